/** Connection state: whether messages arrive, and how late. */

import type { Feed, Message } from '../wire/feed';
import type { Clock, ConnectionState, Link, Readable } from './api';
import { Cell } from './readable';

/** When even the freshest price of a second is later than this, the screen lags, in milliseconds. */
export const LAGGING_AFTER_MS = 2_000;
/** The server sends a heart-beat every two seconds: after this silence the screen lags, in milliseconds. */
export const SILENT_AFTER_MS = 5_000;
/** After this silence another connection is tried, in milliseconds. */
export const RENEWED_AFTER_MS = 10_000;
const LOOK_EVERY_MS = 1_000;
/** The timer of a hidden tab may pause for minutes: only this much of a pause counts, because messages wait behind the timer. */
const PAUSE_COUNTED_MS = 2 * LOOK_EVERY_MS;
/** A timer that fires later than this was delayed by the browser, and so are the messages, in milliseconds. */
const STARVED_AFTER_MS = LOOK_EVERY_MS + 600;
/** The browser counts as starved for this many checks after a late one, because delayed messages arrive one after the other. */
const STARVED_LOOKS = 3;

const START: ConnectionState = {
  link: 'connecting',
  isStarved: false,
  since: 0,
  reconnects: 0,
  messagesPerSecond: 0,
  conflatedPerSecond: 0,
  delayMs: null,
};

export class Connection {
  private readonly cell: Cell<ConnectionState>;
  private messages = 0;
  private conflated = 0;
  private freshest: number | null = null;
  /** The smallest difference of the two clocks so far: what is above it is delay. */
  private baseline = Number.POSITIVE_INFINITY;
  private wasUp = false;
  private lookedAt: number;
  private silentMs = 0;
  private isSuspect = false;
  private starvedLooks = 0;

  constructor(
    private readonly feed: Feed,
    private readonly clock: Clock,
  ) {
    this.lookedAt = clock.now();
    this.cell = new Cell({ ...START, since: this.lookedAt });
    feed.onLink((isUp) => (isUp ? this.found() : this.lost()));
    feed.onMessage((message) => this.count(message));
    feed.onPulse(() => this.pulse());
    clock.every(LOOK_EVERY_MS, () => this.look());
  }

  get state(): Readable<ConnectionState> {
    return this.cell;
  }

  /** A tick arrived that the server did not conflate: its server time gives the delay. */
  onTick(serverTime: number): void {
    const difference = this.clock.now() - serverTime;
    this.baseline = Math.min(this.baseline, difference);
    const delay = difference - this.baseline;
    this.freshest = this.freshest === null ? delay : Math.min(this.freshest, delay);
  }

  /** A call got no answer: the link counts as lagging until the server sends something. */
  suspect(): void {
    this.isSuspect = true;
    if (this.cell.get().link === 'live') this.become('lagging', {});
  }

  private pulse(): void {
    this.silentMs = 0;
    this.isSuspect = false;
  }

  private found(): void {
    const reconnects = this.cell.get().reconnects + (this.wasUp ? 1 : 0);
    this.wasUp = true;
    this.pulse();
    this.baseline = Number.POSITIVE_INFINITY;
    this.become('live', { reconnects });
  }

  private lost(): void {
    this.become('offline', { messagesPerSecond: 0, conflatedPerSecond: 0, delayMs: null });
  }

  private count(message: Message): void {
    this.messages += 1;
    this.conflated += message.conflated;
  }

  private look(): void {
    const { link } = this.cell.get();
    this.countSilence();
    if (link === 'live' || link === 'lagging') {
      const news = { messagesPerSecond: this.messages, conflatedPerSecond: this.conflated, delayMs: this.freshest };
      this.become(this.isLagging() ? 'lagging' : 'live', news);
      if (this.silentMs >= RENEWED_AFTER_MS) this.feed.renew();
    }
    this.messages = 0;
    this.conflated = 0;
    this.freshest = null;
  }

  private countSilence(): void {
    const now = this.clock.now();
    this.silentMs += Math.min(now - this.lookedAt, PAUSE_COUNTED_MS);
    this.starvedLooks = now - this.lookedAt > STARVED_AFTER_MS ? STARVED_LOOKS : Math.max(0, this.starvedLooks - 1);
    this.lookedAt = now;
  }

  private isLagging(): boolean {
    const isLate = this.freshest !== null && this.freshest > LAGGING_AFTER_MS;
    return isLate || this.isSuspect || this.silentMs >= SILENT_AFTER_MS;
  }

  private become(link: Link, news: Partial<ConnectionState>): void {
    const before = this.cell.get();
    const since = before.link === link ? before.since : this.clock.now();
    // A call without an answer and a silence are caused by the server; only a delay may be caused by this browser.
    const isStarved = link === 'lagging' && this.starvedLooks > 0 && !this.isSuspect;
    this.cell.set({ ...before, ...news, link, since, isStarved });
  }
}
