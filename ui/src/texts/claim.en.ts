/** English texts of external orders: those that were not placed here. */
export const external = {
  claim: {
    tag: 'EXT',
    hint: 'External: it was not placed here',
    claim: 'Claim',
    title: (intId: string) => `Claim order ${intId}?`,
    explain: (order: string, filled: string) =>
      `${order}, ${filled} filled, was not placed here. From now on it belongs to the strategy: each of its fills is undone under EXTERNAL and booked again for the strategy, at its own price and with its own costs.`,
    choose: 'Choose…',
    claimed: (intId: string, strategy: string) => `Order ${intId} belongs to ${strategy}`,
    notExternal: 'it was placed here',
    noChange: 'it was not placed here: it can only be cancelled',
  },
};
