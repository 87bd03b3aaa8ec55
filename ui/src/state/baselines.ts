/**
 * What prices of today are held against: the last close of the day before or, where the server knows none, the first price
 * that it remembers, or that we hear; and the minutes of the last hour for a sparkline. A server that has run but for a few
 * minutes gives the seconds of the last one instead, so that there is a line from the start. With the next day, with enough
 * minutes for a line, and after a lost connection they are read anew; the old one stands until then.
 */

import type { Server } from '../wire/server';
import type { Tick } from '../wire/types';
import { SPARKLINE_POINTS } from './api';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Fewer minutes than this make no line. */
const MINUTES_MIN = 10;
/** So many securities are asked for at a time. */
const CALLS_MAX = 3;

export class Baseline {
  private lastStep = 0;
  /** When it was first held against a price, by the server's time. */
  private since: number | null = null;
  private renewedAt = 0;

  constructor(
    public price: number | null,
    private spark: readonly number[],
    private readonly stepMs: number,
  ) {}

  /** Whether another one is to be had by now; said once a minute, because a question may fail. */
  isOver({ dateTime }: Tick): boolean {
    this.since ??= dateTime;
    const isYesterday = dayOf(dateTime) > dayOf(this.since);
    const isYoung = this.stepMs < MINUTE_MS;
    const isOver = isYesterday || (isYoung && dateTime - this.since >= MINUTES_MIN * MINUTE_MS);
    if (!isOver || dateTime - this.renewedAt < MINUTE_MS) return false;
    this.renewedAt = dateTime;
    return true;
  }

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
  private waiting: number[] = [];
  private wanted = new Set<number>();
  private calls = 0;
  /** Counts how often all were read anew; an answer of before is ignored. */
  private round = 0;

  constructor(
    private readonly server: Pick<Server, 'bars'>,
    private readonly onKnown: (securityId: number) => void,
  ) {}

  of(securityId: number): Baseline | undefined {
    return this.known.get(securityId);
  }

  /** Reads those again that somebody looks at, and forgets the others. */
  renew(securityIds: readonly number[]): void {
    this.round += 1;
    this.waiting = [];
    this.wanted = new Set();
    for (const securityId of this.known.keys()) if (!securityIds.includes(securityId)) this.known.delete(securityId);
    for (const securityId of securityIds) this.want(securityId);
  }

  /** One of yesterday is read again. */
  look(tick: Tick): void {
    if (!this.known.get(tick.securityId)?.isOver(tick)) return;
    this.wanted.delete(tick.securityId);
    this.want(tick.securityId);
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
    const { round } = this;
    try {
      const [days, minutes] = await Promise.all([
        this.server.bars(securityId, 'DAY_1', 1),
        this.server.bars(securityId, 'MIN_1', SPARKLINE_POINTS),
      ]);
      const price = days.value.at(-1)?.close ?? minutes.value.at(0)?.open ?? null;
      const isYoung = minutes.value.length < MINUTES_MIN;
      const steps = isYoung ? await this.server.bars(securityId, 'SEC_1', SPARKLINE_POINTS) : minutes;
      if (round !== this.round) return;
      const spark = steps.value.map((bar) => bar.close);
      this.known.set(securityId, new Baseline(price, spark, isYoung ? SECOND_MS : MINUTE_MS));
      this.onKnown(securityId);
    } catch {
      if (round === this.round) this.wanted.delete(securityId);
    }
  }
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}
