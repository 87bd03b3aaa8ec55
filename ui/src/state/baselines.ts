/**
 * What prices of today are held against: the last close of the day before or, where the server knows none, the first price
 * that it remembers, or that we hear; and the minutes of the last hour for a sparkline. A server that has run but for a few
 * minutes gives the seconds of the last one instead, so that there is a line from the start.
 */

import type { Server } from '../wire/server';
import type { Tick } from '../wire/types';
import { SPARKLINE_POINTS } from './api';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/** Fewer minutes than this make no line. */
const MINUTES_MIN = 10;
/** So many securities are asked for at a time. */
const CALLS_MAX = 3;

export class Baseline {
  private lastStep = 0;

  constructor(
    public price: number | null,
    private spark: readonly number[],
    private readonly stepMs: number,
  ) {}

  /** The last point moves with the price until its step is over. */
  sparkWith(tick: Tick): readonly number[] {
    if (tick.last === null) return this.spark;
    this.price ??= tick.last;
    const step = Math.floor(tick.dateTime / this.stepMs);
    const settled = step === this.lastStep ? this.spark.slice(0, -1) : this.spark;
    this.lastStep = Math.max(step, this.lastStep);
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
      const isYoung = minutes.value.length < MINUTES_MIN;
      const steps = isYoung ? await this.server.bars(securityId, 'SEC_1', SPARKLINE_POINTS) : minutes;
      const spark = steps.value.map((bar) => bar.close);
      this.known.set(securityId, new Baseline(price, spark, isYoung ? SECOND_MS : MINUTE_MS));
      this.onKnown(securityId);
    } catch {
      this.wanted.delete(securityId);
    }
  }
}
