/** Which prices the market grid subscribes. */

/** From this rate for each row on, rows out of view are subscribed too, in prices a second. */
const ENOUGH_PER_ROW = 4;

/**
 * A browser gets a bounded number of prices a second (`broker.maxRatePerConnection`). Where that is little, only the rows
 * in sight share it; where it is plenty, all rows are kept fresh, so that sorting and scrolling show no old price.
 */
export function wantedIds(listed: readonly number[], seen: readonly number[], ratePerSecond: number): readonly number[] {
  return ratePerSecond >= listed.length * ENOUGH_PER_ROW ? listed : seen;
}

/** The rate from the server's parameters; a missing one counts as 0. */
export function rateIn(parameters: Readonly<Record<string, string>>): number {
  const rate = Number(parameters['broker.maxRatePerConnection']);
  return Number.isFinite(rate) ? rate : 0;
}
