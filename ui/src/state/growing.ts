/**
 * The open bar, which is not closed yet. It is made of the closed smaller bars of its span and, from the end of these on, of
 * the ticks that were received: a chart may be opened in the middle of a day.
 */

import type { Bar, BarSize, Tick } from '../wire/types';

const SECOND_MS = 1_000;
export const BAR_MS: Record<BarSize, number> = {
  SEC_1: SECOND_MS,
  MIN_1: 60 * SECOND_MS,
  MIN_5: 300 * SECOND_MS,
  MIN_15: 900 * SECOND_MS,
  HOUR_1: 3_600 * SECOND_MS,
  DAY_1: 86_400 * SECOND_MS,
};

/** Of which closed bars one of each size is made before it closes, the largest first. */
export const PARTS: Record<BarSize, readonly BarSize[]> = {
  SEC_1: [],
  MIN_1: ['SEC_1'],
  MIN_5: ['MIN_1', 'SEC_1'],
  MIN_15: ['MIN_1', 'SEC_1'],
  HOUR_1: ['MIN_1', 'SEC_1'],
  DAY_1: ['HOUR_1', 'MIN_1', 'SEC_1'],
};
/** The most parts of a size that fit into the next, and as many again: one may close between two answers. */
export const PARTS_MAX = 120;
/** Most ticks that are kept until the parts have arrived; a chart receives at most sixty a second. */
const TICKS_MAX = 1_200;

interface TradedTick {
  tick: Tick;
  last: number;
  at: number;
}

export class GrowingBar {
  private bar: Bar | null = null;
  private ticks: TradedTick[] = [];
  /** End of the closed bars; before they have arrived it is unknown what the first tick adds. */
  private until = Infinity;

  constructor(private readonly size: BarSize) {}

  get(): Bar | null {
    return this.bar;
  }

  apply(tick: Tick): void {
    const { last, lastDateTime: at } = tick;
    if (last === null || at === null) return;
    const received = { tick, last, at };
    this.bar = this.grown(this.bar, received, this.tradedUpTo(received, this.ticks.at(-1)));
    this.ticks.push(received);
    if (this.ticks.length > TICKS_MAX) this.ticks.shift();
  }

  /** Starts again with closed bars; ticks count from their end on. */
  begin(parts: readonly (readonly Bar[])[]): void {
    const whole = joined(parts);
    const last = whole.at(-1);
    if (last === undefined) return;
    this.until = last.dateTime + BAR_MS[last.barSize];
    // The closed bars contain the ticks received before their end, and the trades before the first tick.
    this.ticks = this.ticks.filter(({ at }) => at >= last.dateTime);
    const start = this.startOf(last.dateTime);
    this.bar = summed(whole.filter(({ dateTime }) => dateTime >= start), start, this.size);
    this.ticks.forEach((received, place) => {
      const traded = this.tradedUpTo(received, this.ticks[place - 1]);
      if (received.at >= this.until) this.bar = this.grown(this.bar, received, traded);
    });
  }

  private grown(bar: Bar | null, received: TradedTick, traded: number): Bar {
    const { last, at } = received;
    const start = this.startOf(at);
    const before = bar?.dateTime === start ? bar : this.begun(received, start);
    const [high, low] = [Math.max(before.high, last), Math.min(before.low, last)];
    // A tick without a trade leaves the bar as it is, and whoever draws it has nothing to draw.
    if (before === bar && traded === 0 && last === bar.close && high === bar.high && low === bar.low) return bar;
    return { ...before, high, low, close: last, vol: before.vol + traded };
  }

  /**
   * Ticks that were replaced on the way still count, because the day's volume says what was traded between two. Not so
   * across a gap of bars, as after a sleep: what was traded in them belongs to them.
   */
  private tradedUpTo({ tick, at }: TradedTick, before: TradedTick | undefined): number {
    if (before === undefined) return at >= this.until ? (tick.volLast ?? 0) : 0;
    const isNear = this.startOf(at) - this.startOf(before.at) <= BAR_MS[this.size];
    return isNear ? Math.max(0, (tick.vol ?? 0) - (before.tick.vol ?? tick.vol ?? 0)) : (tick.volLast ?? 0);
  }

  private begun({ tick: { securityId, feed }, last }: TradedTick, dateTime: number): Bar {
    const prices = { open: last, high: last, low: last, close: last };
    return { objectType: 'Bar', securityId, feed, dateTime, barSize: this.size, ...prices, vol: 0, vwap: null };
  }

  private startOf(at: number): number {
    return Math.floor(at / BAR_MS[this.size]) * BAR_MS[this.size];
  }
}

/** One row in time: smaller bars only from where the larger ones end. */
function joined(parts: readonly (readonly Bar[])[]): Bar[] {
  const row: Bar[] = [];
  for (const bars of parts) {
    const last = row.at(-1);
    const end = last === undefined ? 0 : last.dateTime + BAR_MS[last.barSize];
    row.push(...bars.filter(({ dateTime }) => dateTime >= end));
  }
  return row;
}

function summed(parts: readonly Bar[], dateTime: number, barSize: BarSize): Bar | null {
  const [first, last] = [parts.at(0), parts.at(-1)];
  if (first === undefined || last === undefined) return null;
  const high = Math.max(...parts.map((part) => part.high));
  const low = Math.min(...parts.map((part) => part.low));
  const vol = parts.reduce((sum, part) => sum + part.vol, 0);
  return { ...first, dateTime, barSize, high, low, close: last.close, vol, vwap: null };
}
