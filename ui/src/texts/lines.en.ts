/** English texts of the lines to venues. */
export const connectivity = {
  lines: {
    line: { TRADING: 'Trading line', PRIVATE: 'Private stream', PRICES: 'Prices' },
    openFor: { ORDERS: 'open for orders', REDUCE: 'reduce only', NOTHING: 'closed' },
    orders: {
      title: 'Orders are',
      LIVE: { word: 'live', hint: 'Orders go to the venue' },
      PAPER: { word: 'paper', hint: 'Paper: real prices, simulated fills. No order leaves' },
      SIMULATED: { word: 'simulated', hint: 'The venue is simulated, with its prices and its money' },
    },
    proof: {
      title: 'Proven',
      OWN_VENUE: { word: 'own venue', hint: 'part of the server' },
      UNPROVEN: { word: 'unproven', hint: 'proven against nothing, it follows the documentation of the venue' },
      PROGRAM: { word: 'program only', hint: 'proven against a program with the protocol of the venue, not yet against the venue' },
      LAB: { word: 'lab only', hint: 'proven against the lab, not yet against the venue' },
      VENUE: { word: 'venue', hint: 'proven against the venue' },
    },
    venue: 'Venue is',
    up: 'up',
    heard: (age: string) => `${age} ago`,
    down: 'down',
    downFor: (age: string) => `down ${age}`,
    notApart: 'not apart',
  },
};
