/** Chart series: bars in the form of the chart library, and the smallest update when they change. */

import type { Bar, OrderVO } from '../../wire/types';
import type { Fill } from '../../state/api';

/** The library counts in seconds. */
export interface Candle {
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
}

export interface VolumeBar {
  time: number;
  value: number;
  isUp: boolean;
}

export function candleOf(bar: Bar): Candle {
  const { open, high, low, close } = bar;
  return { time: secondsOf(bar.dateTime), open, high, low, close };
}

export function volumeOf(bar: Bar): VolumeBar {
  return { time: secondsOf(bar.dateTime), value: bar.vol, isUp: bar.close >= bar.open };
}

/** All bars again, or only those at the end that are new or changed. */
export type Redraw = { all: readonly Bar[] } | { last: readonly Bar[] };

/**
 * A chart of a thousand bars is drawn whole once; afterwards a tick changes the last bar or begins a new one. Anything
 * else (another security, a gap filled after a reconnect) is drawn whole again.
 */
export function redrawOf(before: readonly Bar[], now: readonly Bar[]): Redraw {
  const known = before.at(-1);
  const oldest = before.at(0);
  if (known === undefined || now.at(0)?.dateTime !== oldest?.dateTime) return { all: now };
  const from = now.findLastIndex((bar) => bar.dateTime <= known.dateTime);
  if (now[from]?.dateTime !== known.dateTime || from !== before.length - 1) return { all: now };
  return { last: now.slice(from) };
}

export interface OrderLine {
  intId: string;
  price: number;
  side: OrderVO['side'];
  quantity: number;
  isStop: boolean;
}

/** A line for each price at which an open order of this security stands. */
export function orderLines(orders: readonly OrderVO[], securityId: number): OrderLine[] {
  return orders
    .filter((order) => order.securityId === securityId)
    .flatMap(({ intId, side, remainingQuantity: quantity, limit, stop }) => [
      ...(limit === undefined ? [] : [{ intId, side, quantity, price: limit, isStop: false }]),
      ...(stop === undefined ? [] : [{ intId, side, quantity, price: stop, isStop: true }]),
    ]);
}

/** All that was bought, or sold, within one bar. */
export interface FillMark {
  time: number;
  side: OrderVO['side'];
  quantity: number;
  /** The average. */
  price: number;
}

/** Fills stand at the bar in which they happened, one mark a side; those before the first bar are out of sight. */
export function fillMarks(fills: readonly Fill[], securityId: number, bars: readonly Bar[]): FillMark[] {
  const marks = new Map<string, FillMark>();
  const first = bars.at(0)?.dateTime ?? Infinity;
  const isInSight = (fill: Fill) => fill.securityId === securityId && fill.dateTime >= first;
  for (const { dateTime, side, quantity, price } of fills.filter(isInSight)) {
    const bar = bars.findLast((candidate) => candidate.dateTime <= dateTime);
    if (bar === undefined) continue;
    const mark = { time: secondsOf(bar.dateTime), side, quantity, price };
    const key = `${mark.time} ${side}`;
    marks.set(key, together(marks.get(key), mark));
  }
  return [...marks.values()].sort((one, other) => one.time - other.time);
}

function together(known: FillMark | undefined, added: FillMark): FillMark {
  if (known === undefined) return added;
  const quantity = known.quantity + added.quantity;
  const price = (known.quantity * known.price + added.quantity * added.price) / quantity;
  return { ...known, quantity, price };
}

function secondsOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
