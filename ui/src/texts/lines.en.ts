/** English texts of the lines to venues. */
export const connectivity = {
  lines: {
    line: { TRADING: 'Trading line', PRIVATE: 'Private stream', PRICES: 'Prices' },
    openFor: { ORDERS: 'open for orders', REDUCE: 'reduce only', NOTHING: 'closed' },
    venue: 'Venue is',
    up: 'up',
    heard: (age: string) => `${age} ago`,
    down: 'down',
    downFor: (age: string) => `down ${age}`,
    notApart: 'not apart',
  },
};
