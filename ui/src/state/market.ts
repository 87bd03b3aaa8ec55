/**
 * Market store: last prices. All are loaded once at each connect; after that only those of visible rows are subscribed, because a
 * browser gets a bounded number of prices a second.
 */

import { decodeText } from '../wire/decode';
import { tick as tickDecoder } from '../wire/decoders';
import type { Feed, Message } from '../wire/feed';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { Tick } from '../wire/types';
import { type Clock, type Market, type Quote, type Stop } from './api';
import { type Baseline, Baselines } from './baselines';
import { Rows } from './table';

/** A row that scrolls out of view keeps its subscription for this long, in milliseconds. */
export const LINGER_MS = 1_500;
const SERVER_STRATEGY = 'SERVER';

interface Wanted {
  count: number;
  stop: Stop;
}

export interface MarketTools {
  feed: Feed;
  clock: Clock;
  server: Pick<Server, 'ticks' | 'bars' | 'subscribe'>;
  mayTrade(): boolean;
  /** Whether messages arrive in time; while they don't, every price may be old. */
  isLive(): boolean;
  /** Whether the venue of a feed is away. */
  isAway?(feed: string): boolean;
  /** A price arrived that the server did not conflate. */
  onTick(serverTime: number): void;
  onTrouble(error: unknown): void;
}

export class MarketPrices implements Market {
  readonly quotes: Rows<number, Quote>;
  private readonly wanted = new Map<number, Wanted>();
  private readonly requested = new Set<number>();
  private readonly baselines: Baselines;
  private isLoaded = false;

  constructor(private readonly tools: MarketTools) {
    this.quotes = new Rows(tools.clock, (quote) => quote.securityId);
    this.baselines = new Baselines(tools.server, (securityId) => this.repaint(securityId));
  }

  /** Loads all prices at a connect; a price that has arrived on its topic meanwhile is newer. */
  async load(): Promise<void> {
    if (this.isLoaded) this.baselines.renew([...this.wanted.keys()]);
    this.isLoaded = true;
    const { value } = await this.tools.server.ticks();
    for (const tick of value) this.apply(tick);
    this.requested.clear();
    for (const securityId of this.wanted.keys()) this.subscribeAtVenue(securityId);
  }

  want(securityIds: readonly number[]): Stop {
    const ids = [...new Set(securityIds)];
    for (const id of ids) this.hold(id);
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      this.tools.clock.after(LINGER_MS, () => ids.forEach((id) => this.release(id)));
    };
  }

  ageOf(quote: Quote): number {
    return Math.max(0, this.tools.clock.now() - quote.receivedAt);
  }

  isStale(quote: Quote): boolean {
    return !this.tools.isLive() || quote.tick.stale !== null || (this.tools.isAway?.(quote.tick.feed) ?? false);
  }

  private hold(securityId: number): void {
    const wanted = this.wanted.get(securityId);
    if (wanted) {
      wanted.count += 1;
      return;
    }
    const listener = { message: (message: Message) => this.receive(message) };
    const stop = this.tools.feed.subscribe(topics.tick(securityId), listener, { snapshot: true });
    this.wanted.set(securityId, { count: 1, stop });
    this.baselines.want(securityId);
    this.subscribeAtVenue(securityId);
  }

  private release(securityId: number): void {
    const wanted = this.wanted.get(securityId);
    if (!wanted || --wanted.count > 0) return;
    wanted.stop();
    this.wanted.delete(securityId);
  }

  /** A security without any price may not be subscribed at its venue. */
  private subscribeAtVenue(securityId: number): void {
    if (this.quotes.row(securityId) || this.requested.has(securityId) || !this.tools.mayTrade()) return;
    this.requested.add(securityId);
    const request = { strategyName: SERVER_STRATEGY, securityId, subscribe: true };
    this.tools.server.subscribe(request).catch(this.tools.onTrouble);
  }

  private receive(message: Message): void {
    try {
      const tick = decodeText(tickDecoder, message.body);
      if (!message.isSnapshot && message.conflated === 0 && tick.stale === null) this.tools.onTick(tick.dateTime);
      this.apply(tick);
    } catch (error) {
      this.tools.onTrouble(error);
    }
  }

  /** A tick that is older than the stored one is ignored, unless it says that the prices became stale or live. One that only says that is as
      old as the one before. */
  private apply(tick: Tick): void {
    const before = this.quotes.row(tick.securityId);
    if (before && before.tick.dateTime > tick.dateTime && before.tick.stale === tick.stale) return;
    if (before && before.tick.dateTime === tick.dateTime && sameValues(before.tick, tick)) return;
    this.baselines.look(tick);
    const receivedAt = before && tick.stale !== null ? before.receivedAt : this.tools.clock.now();
    this.quotes.upsert(quoteOf(tick, receivedAt, this.baselines.of(tick.securityId)));
  }

  private repaint(securityId: number): void {
    const quote = this.quotes.row(securityId);
    if (quote) this.quotes.upsert(quoteOf(quote.tick, quote.receivedAt, this.baselines.of(securityId)));
  }
}

function sameValues(one: Tick, other: Tick): boolean {
  return one.stale === other.stale && one.last === other.last && one.bid === other.bid && one.ask === other.ask && one.vol === other.vol;
}

function quoteOf(tick: Tick, receivedAt: number, baseline: Baseline | undefined): Quote {
  const { securityId } = tick;
  const spark = baseline?.sparkWith(tick) ?? [];
  const last = tick.last ?? spark.at(-1) ?? null;
  const from = baseline?.price ?? null;
  const change = last === null || from === null ? null : last - from;
  const changePercent = change === null || !from ? null : change / from;
  return { securityId, tick, receivedAt, last, change, changePercent, spark };
}

