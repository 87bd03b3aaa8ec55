/**
 * Baselines of the day change: the last close of the day before or, where the server has none, the first price that the
 * server or this screen has; and the minute bars of the last hour for a sparkline. A server that has run for a few minutes only
 * gives second bars instead, so that there is a line from the start. Baselines are loaded again on the next day, when there are
 * enough minute bars for a line, and after a lost connection; the old baseline is used until then.
 */

import { WireError } from '../wire/error';
import type { Server } from '../wire/server';
import type { Bar, Tick } from '../wire/types';
import { SPARKLINE_POINTS } from './api';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Fewer minutes than this make no line. */
const MINUTES_MIN = 10;
/** Most securities of one call; the server accepts no more. */
export const SECURITIES_PER_CALL = 200;

export class Baseline {
  private lastStep = 0;
  /** Server time of the first price that was compared with this baseline. */
  private since: number | null = null;
  private renewedAt = 0;

  constructor(
    public price: number | null,
    private spark: readonly number[],
    private readonly stepMs: number,
  ) {}

  /** Whether the baseline must be loaded again; `true` at most once a minute, because the call may fail. */
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
  private isGathering = false;
  /** Counts the reloads of all baselines; a reply to an earlier round is ignored. */
  private round = 0;

  constructor(
    private readonly server: Pick<Server, 'bars'>,
    private readonly onKnown: (securityId: number) => void,
  ) {}

  of(securityId: number): Baseline | undefined {
    return this.known.get(securityId);
  }

  /** Loads the baselines of these securities again, and drops all others. */
  renew(securityIds: readonly number[]): void {
    this.round += 1;
    this.waiting = [];
    this.wanted = new Set();
    for (const securityId of this.known.keys()) if (!securityIds.includes(securityId)) this.known.delete(securityId);
    for (const securityId of securityIds) this.want(securityId);
  }

  /** Loads the baseline again where it is out of date. */
  look(tick: Tick): void {
    if (!this.known.get(tick.securityId)?.isOver(tick)) return;
    this.wanted.delete(tick.securityId);
    this.want(tick.securityId);
  }

  want(securityId: number): void {
    if (this.wanted.has(securityId)) return;
    this.wanted.add(securityId);
    this.waiting.push(securityId);
    this.gather();
  }

  /** Securities that are wanted at the same time are requested in one call. */
  private gather(): void {
    if (this.isGathering) return;
    this.isGathering = true;
    queueMicrotask(() => {
      this.isGathering = false;
      while (this.waiting.length > 0) void this.load(this.waiting.splice(0, SECURITIES_PER_CALL));
    });
  }

  /** A failed call leaves no baseline; the next `want` of the security requests it again. */
  private async load(securityIds: readonly number[]): Promise<void> {
    const { round } = this;
    try {
      const found = await this.read(securityIds);
      if (round !== this.round) return;
      for (const [securityId, baseline] of found) {
        this.known.set(securityId, baseline);
        this.onKnown(securityId);
      }
    } catch (error) {
      if (round !== this.round) return;
      if (isUnknown(error) && securityIds.length > 1) return this.loadHalves(securityIds);
      for (const securityId of securityIds) this.wanted.delete(securityId);
    }
  }

  /** A security that the server does not have must not fail the call for the others. */
  private async loadHalves(securityIds: readonly number[]): Promise<void> {
    const middle = Math.ceil(securityIds.length / 2);
    await Promise.all([this.load(securityIds.slice(0, middle)), this.load(securityIds.slice(middle))]);
  }

  private async read(securityIds: readonly number[]): Promise<[number, Baseline][]> {
    const [days, minutes] = await Promise.all([
      this.server.bars(securityIds, 'DAY_1', 1),
      this.server.bars(securityIds, 'MIN_1', SPARKLINE_POINTS),
    ]);
    const [daysOf, minutesOf] = [bySecurity(days.value), bySecurity(minutes.value)];
    const isYoung = (id: number) => (minutesOf.get(id) ?? []).length < MINUTES_MIN;
    const young = securityIds.filter(isYoung);
    const seconds = young.length === 0 ? [] : (await this.server.bars(young, 'SEC_1', SPARKLINE_POINTS)).value;
    const secondsOf = bySecurity(seconds);
    return securityIds.map((id) => {
      const price = daysOf.get(id)?.at(-1)?.close ?? minutesOf.get(id)?.at(0)?.open ?? null;
      const steps = (isYoung(id) ? secondsOf : minutesOf).get(id) ?? [];
      return [id, new Baseline(price, steps.map((bar) => bar.close), isYoung(id) ? SECOND_MS : MINUTE_MS)];
    });
  }
}

function bySecurity(bars: readonly Bar[]): Map<number, Bar[]> {
  const groups = new Map<number, Bar[]>();
  for (const bar of bars) groups.set(bar.securityId, [...(groups.get(bar.securityId) ?? []), bar]);
  return groups;
}

function isUnknown(error: unknown): boolean {
  return error instanceof WireError && error.code === 'unknown-security';
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}
