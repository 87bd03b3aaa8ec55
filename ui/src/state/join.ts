/**
 * The join of a snapshot and its topic: subscribe; when the server has the subscription, request the snapshot; drop messages
 * up to the snapshot's sequence, apply the rest. A lost connection starts it all again, so that a gap never stays.
 */

import { type Decoder, decodeText } from '../wire/decode';
import { WireError } from '../wire/error';
import type { Feed, Message } from '../wire/feed';
import type { Snapshot } from '../wire/rest';
import type { Clock, Freshness, Stop } from './api';
import { Cell } from './readable';

/** After this many messages without a snapshot the messages are dropped and the snapshot is requested again. */
export const BUFFER_MAX = 20_000;
export const RETRY_AFTER_MS = 2_000;

/** Snapshot `P`, event `E`. */
export interface Joined<P, E> {
  topic: string;
  decoder: Decoder<E>;
  snapshot(): Promise<Snapshot<P>>;
  reset(snapshot: P): void;
  apply(event: E): void;
}

export interface JoinTools {
  feed: Feed;
  clock: Clock;
  /** An error that no retry can solve. */
  onTrouble(error: unknown): void;
}

export class Join<P, E> {
  readonly freshness = new Cell<Freshness>('loading');
  private waiting: Message[] | null = [];
  private asOf = 0;
  /** Counts the requested snapshots; a reply to an older request is ignored. */
  private round = 0;
  private readonly stops: Stop[];

  constructor(
    private readonly joined: Joined<P, E>,
    private readonly tools: JoinTools,
  ) {
    const listener = { message: (message: Message) => this.receive(message), ready: () => this.requestSnapshot() };
    this.stops = [
      tools.feed.onLink((isUp) => !isUp && this.onDisconnect()),
      tools.feed.subscribe(joined.topic, listener),
    ];
  }

  close(): void {
    this.round += 1;
    for (const stop of this.stops) stop();
  }

  private receive(message: Message): void {
    if (this.waiting === null) {
      this.apply(message);
    } else if (this.waiting.push(message) > BUFFER_MAX) {
      this.requestSnapshot();
    }
  }

  private onDisconnect(): void {
    this.round += 1;
    this.waiting = [];
    if (this.freshness.get() === 'live') this.freshness.set('stale');
  }

  /** Messages that came before the request are in the snapshot. */
  private requestSnapshot(): void {
    this.round += 1;
    this.waiting = [];
    const round = this.round;
    this.joined.snapshot().then(
      (snapshot) => round === this.round && this.applySnapshot(snapshot),
      (error: unknown) => round === this.round && this.fail(error),
    );
  }

  private applySnapshot(snapshot: Snapshot<P>): void {
    const late = this.waiting ?? [];
    this.waiting = null;
    this.asOf = snapshot.sequence;
    this.joined.reset(snapshot.value);
    for (const message of late) this.apply(message);
    this.freshness.set('live');
  }

  private fail(error: unknown): void {
    if (!(error instanceof WireError)) this.tools.onTrouble(error);
    const round = this.round;
    this.tools.clock.after(RETRY_AFTER_MS, () => round === this.round && this.requestSnapshot());
  }

  private apply(message: Message): void {
    if (message.sequence <= this.asOf) return;
    try {
      this.joined.apply(decodeText(this.joined.decoder, message.body));
    } catch (error) {
      this.tools.onTrouble(error);
    }
  }
}
