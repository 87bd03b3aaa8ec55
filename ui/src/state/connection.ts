/** Whether news arrive, and how late. */

import type { Feed, Message } from '../wire/feed';
import type { Clock, ConnectionState, Link, Readable } from './api';
import { Cell } from './readable';

/** When even the freshest price of a second is later than this, the screen lags, in milliseconds. */
export const LAGGING_AFTER_MS = 2_000;
const LOOK_EVERY_MS = 1_000;

const START: ConnectionState = {
  link: 'connecting',
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

  constructor(
    feed: Feed,
    private readonly clock: Clock,
  ) {
    this.cell = new Cell({ ...START, since: clock.now() });
    feed.onLink((isUp) => (isUp ? this.found() : this.lost()));
    feed.onMessage((message) => this.count(message));
    clock.every(LOOK_EVERY_MS, () => this.look());
  }

  get state(): Readable<ConnectionState> {
    return this.cell;
  }

  /** A price that was not held back; its server time tells how late we hear. */
  heard(serverTime: number): void {
    const difference = this.clock.now() - serverTime;
    this.baseline = Math.min(this.baseline, difference);
    const delay = difference - this.baseline;
    this.freshest = this.freshest === null ? delay : Math.min(this.freshest, delay);
  }

  private found(): void {
    const reconnects = this.cell.get().reconnects + (this.wasUp ? 1 : 0);
    this.wasUp = true;
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
    if (link === 'live' || link === 'lagging') {
      const isLate = this.freshest !== null && this.freshest > LAGGING_AFTER_MS;
      const news = { messagesPerSecond: this.messages, conflatedPerSecond: this.conflated, delayMs: this.freshest };
      this.become(isLate ? 'lagging' : 'live', news);
    }
    this.messages = 0;
    this.conflated = 0;
    this.freshest = null;
  }

  private become(link: Link, news: Partial<ConnectionState>): void {
    const before = this.cell.get();
    const since = before.link === link ? before.since : this.clock.now();
    this.cell.set({ ...before, ...news, link, since });
  }
}
