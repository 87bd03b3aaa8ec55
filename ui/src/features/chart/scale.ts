/** Price scale of the chart: its range, and the own orders outside of it. */

import type { OrderLine } from './series';

export interface PriceRange {
  from: number;
  to: number;
}

/** An order is drawn where it lies so near to the candles, in parts of their price. */
const NEAR_PART = 0.01;

/**
 * The range of the candles, widened by the orders near to it. On either side it grows by no more than its own height, so
 * that candles keep a third of the room.
 */
export function widened({ from, to }: PriceRange, prices: readonly number[]): PriceRange {
  const room = Math.min(to - from, NEAR_PART * Math.abs(to));
  const near = prices.filter((price) => price >= from - room && price <= to + room);
  return { from: Math.min(from, ...near), to: Math.max(to, ...near) };
}

export interface Outside {
  above: readonly OrderLine[];
  below: readonly OrderLine[];
}

export const NONE_OUTSIDE: Outside = { above: [], below: [] };

/** Those out of sight, the nearest to the sight first. */
export function outside(lines: readonly OrderLine[], sight: PriceRange | null): Outside {
  if (sight === null) return NONE_OUTSIDE;
  const rising = [...lines].sort((one, other) => one.price - other.price);
  return {
    above: rising.filter(({ price }) => price > sight.to),
    below: rising.filter(({ price }) => price < sight.from).reverse(),
  };
}
