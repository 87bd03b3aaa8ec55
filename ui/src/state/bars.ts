/** Bars of one security and size: those that the server has closed, and the one that grows with the ticks. */

import { bar as barDecoder } from '../wire/decoders';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { Bar, BarSize, Tick } from '../wire/types';
import type { BarSeries, Freshness, Market, Readable, Stop } from './api';
import { Join, type JoinTools } from './join';
import { Cell } from './readable';

/** How many bars a chart has, at the most. */
export const BARS_MAX = 1_000;

const SECOND_MS = 1_000;
export const BAR_MS: Record<BarSize, number> = {
  SEC_1: SECOND_MS,
  MIN_1: 60 * SECOND_MS,
  MIN_5: 300 * SECOND_MS,
  MIN_15: 900 * SECOND_MS,
  HOUR_1: 3_600 * SECOND_MS,
  DAY_1: 86_400 * SECOND_MS,
};

export interface BarsTools extends JoinTools {
  server: Pick<Server, 'bars'>;
  market: Market;
}

export class LiveBars implements BarSeries {
  private readonly bars = new Cell<readonly Bar[]>([]);
  private readonly join: Join<Bar[], Bar>;
  private readonly stops: Stop[];
  private closed: readonly Bar[] = [];
  private growing: Bar | null = null;
  /** The day's volume by the newest tick, and the bar to which that belongs. */
  private counted: { volume: number | null; start: number } | null = null;

  constructor(
    private readonly securityId: number,
    private readonly size: BarSize,
    tools: BarsTools,
  ) {
    this.join = new Join(
      {
        topic: topics.bar(securityId, size),
        decoder: barDecoder,
        picture: () => tools.server.bars(securityId, size, BARS_MAX),
        reset: (bars) => this.reset(bars),
        apply: (bar) => this.append(bar),
      },
      tools,
    );
    this.stops = [
      tools.market.want([securityId]),
      tools.market.quotes.watch(({ upserted }) => {
        const quote = upserted.find((candidate) => candidate.securityId === securityId);
        if (quote) this.grow(quote.tick);
      }),
    ];
  }

  get freshness(): Readable<Freshness> {
    return this.join.freshness;
  }

  get(): readonly Bar[] {
    return this.bars.get();
  }

  subscribe(run: (bars: readonly Bar[]) => void): Stop {
    return this.bars.subscribe(run);
  }

  close(): void {
    this.join.close();
    for (const stop of this.stops) stop();
  }

  private reset(bars: readonly Bar[]): void {
    this.closed = bars;
    this.show();
  }

  private append(bar: Bar): void {
    const older = this.closed.filter((known) => known.dateTime < bar.dateTime);
    this.closed = [...older, bar].slice(-BARS_MAX);
    this.show();
  }

  private grow(tick: Tick): void {
    if (tick.last === null || tick.lastDateTime === null) return;
    const start = Math.floor(tick.lastDateTime / BAR_MS[this.size]) * BAR_MS[this.size];
    const traded = this.tradedUpTo(tick, start);
    this.counted = { volume: tick.vol, start };
    const before = this.growing?.dateTime === start ? this.growing : this.begun(tick, start, tick.last);
    this.growing = {
      ...before,
      high: Math.max(before.high, tick.last),
      low: Math.min(before.low, tick.last),
      close: tick.last,
      vol: before.vol + traded,
    };
    this.show();
  }

  /**
   * Ticks that were replaced on the way still count, because the day's volume says what was traded between two. Not so
   * across a gap of bars, as after a sleep: what was traded in them belongs to them.
   */
  private tradedUpTo(tick: Tick, start: number): number {
    if (this.counted === null) return 0;
    const isNear = start - this.counted.start <= BAR_MS[this.size];
    return isNear ? Math.max(0, (tick.vol ?? 0) - (this.counted.volume ?? tick.vol ?? 0)) : (tick.volLast ?? 0);
  }

  private begun(tick: Tick, start: number, price: number): Bar {
    const { securityId, size } = this;
    const prices = { open: price, high: price, low: price, close: price };
    return { objectType: 'Bar', securityId, feed: tick.feed, dateTime: start, barSize: size, ...prices, vol: 0, vwap: null };
  }

  private show(): void {
    const last = this.closed.at(-1)?.dateTime ?? 0;
    const isNews = this.growing !== null && this.growing.dateTime > last;
    this.bars.set(isNews && this.growing ? [...this.closed, this.growing] : this.closed);
  }
}
