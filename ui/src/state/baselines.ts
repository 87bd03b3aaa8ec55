/**
 * What prices of today are held against: the last close of the day before or, where the server knows none, the first price
 * that it remembers, or that we hear; and the minutes of the last hour for a sparkline.
 */

import type { Server } from '../wire/server';
import type { Tick } from '../wire/types';
import { SPARKLINE_POINTS } from './api';

const MINUTE_MS = 60_000;
/** So many securities are asked for at a time. */
const CALLS_MAX = 4;

export class Baseline {
  private minute = 0;

  constructor(
    public price: number | null,
    private spark: readonly number[],
  ) {}

  /** The last point moves with the price until its minute is over. */
  sparkWith(tick: Tick): readonly number[] {
    if (tick.last === null) return this.spark;
    this.price ??= tick.last;
    const minute = Math.floor(tick.dateTime / MINUTE_MS);
    const settled = minute === this.minute ? this.spark.slice(0, -1) : this.spark;
    this.minute = Math.max(minute, this.minute);
    this.spark = [...settled, tick.last].slice(-SPARKLINE_POINTS);
    return this.spark;
  }
}

export class Baselines {
  private readonly known = new Map<number, Baseline>();
  private readonly waiting: number[] = [];
  private readonly wanted = new Set<number>();
  private calls = 0;

  constructor(
    private readonly server: Pick<Server, 'bars'>,
    private readonly onKnown: (securityId: number) => void,
  ) {}

  of(securityId: number): Baseline | undefined {
    return this.known.get(securityId);
  }

  want(securityId: number): void {
    if (this.wanted.has(securityId)) return;
    this.wanted.add(securityId);
    this.waiting.push(securityId);
    this.next();
  }

  private next(): void {
    while (this.calls < CALLS_MAX) {
      const securityId = this.waiting.shift();
      if (securityId === undefined) return;
      this.calls += 1;
      void this.load(securityId).finally(() => {
        this.calls -= 1;
        this.next();
      });
    }
  }

  /** Without an answer there is no baseline; whoever wants the security next asks again. */
  private async load(securityId: number): Promise<void> {
    try {
      const [days, minutes] = await Promise.all([
        this.server.bars(securityId, 'DAY_1', 1),
        this.server.bars(securityId, 'MIN_1', SPARKLINE_POINTS),
      ]);
      const price = days.value.at(-1)?.close ?? minutes.value.at(0)?.open ?? null;
      this.known.set(securityId, new Baseline(price, minutes.value.map((bar) => bar.close)));
      this.onKnown(securityId);
    } catch {
      this.wanted.delete(securityId);
    }
  }
}
