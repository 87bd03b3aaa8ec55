/** Session list: the server's sessions with venues and FIX clients, and its health. */

import { decodeText } from '../wire/decode';
import { session } from '../wire/decoders';
import type { Feed, Message } from '../wire/feed';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { AccountVO, AdapterVO, FixSessionVO, Health, SessionState } from '../wire/types';
import { AdapterList } from './adapters';
import type { AdapterSession, Clock, Readable, Sessions, Stop, Table, Venue } from './api';
import { Cell, derive } from './readable';
import { Rows, View } from './table';

/** FIX sessions and health have no topic, so they are polled while a widget shows them, in milliseconds. */
const POLL_EVERY_MS = 3_000;

/** Orders reach the venue. */
const REACHED: ReadonlySet<SessionState> = new Set<SessionState>(['LOGGED_ON', 'SUBSCRIBED']);

const PREFIX = 'adapter ';
/** `adapter SIMULATED-ALPHA`. */
const ADAPTER_CHECK = /^adapter ([^-]+)(?:-(.+))?$/;
const STATES: readonly string[] = ['DISCONNECTED', 'CONNECTED', 'LOGGED_ON', 'SUBSCRIBED'] satisfies SessionState[];

function isSessionState(text: string): text is SessionState {
  return STATES.includes(text);
}

export interface SessionsTools {
  feed: Feed;
  clock: Clock;
  server: Pick<Server, 'adapters' | 'fixSessions' | 'health' | 'logoutFix' | 'resetFix'>;
  /** Sessions of these accounts are venues; all other sessions belong to clients. */
  accounts: Readable<readonly AccountVO[]>;
  /** A venue was lost, or came back. */
  onVenue(name: string, isAway: boolean): void;
  onTrouble(error: unknown): void;
}

export class SessionList implements Sessions {
  readonly adapters: Table<string, AdapterSession>;
  readonly details: Table<string, AdapterVO>;
  readonly venues: Readable<readonly Venue[]>;
  readonly fix: Rows<string, FixSessionVO>;
  readonly health = new Cell<Health | null>(null);
  private readonly known: Rows<string, AdapterSession>;
  private readonly described: AdapterList;
  /** Sessions received on the topic since the last connect: newer than the health reply. */
  private readonly received = new Set<string>();
  /** Venues that were away at the last notification. */
  private away: ReadonlySet<string> = new Set();
  private lookers = 0;

  constructor(private readonly tools: SessionsTools) {
    this.known = new Rows(tools.clock, adapterKey);
    this.described = new AdapterList(tools.server, tools.clock);
    this.details = this.described.rows;
    const keys = derive([tools.accounts], (accounts) => new Map(accounts.filter(({ active }) => active).map(venueOf)));
    this.adapters = new View(this.known, derive([keys], (venues) => (row: AdapterSession) => venues.has(adapterKey(row))));
    this.venues = derive([this.known, keys, this.details], (_, venues) => [...venues].flatMap(([key, name]) => this.venue(key, name)));
    this.venues.subscribe((venues) => this.notify(venues));
    this.fix = new Rows(tools.clock, (row) => row.id);
    tools.feed.subscribe(topics.sessions, { message: (message) => this.receive(message) }, { snapshot: true });
    tools.clock.every(POLL_EVERY_MS, () => this.lookers > 0 && void this.poll());
  }

  /** At each connect: loads the state of the venues. */
  async load(): Promise<void> {
    this.received.clear();
    const [health] = await Promise.all([this.tools.server.health(), this.described.load()]);
    this.applyHealth(health);
  }

  isAway(feed: string): boolean {
    return this.away.has(feed);
  }

  look(): Stop {
    this.lookers += 1;
    void this.poll();
    let isDone = false;
    return () => {
      if (!isDone) this.lookers -= 1;
      isDone = true;
    };
  }

  logoutFix(id: string): Promise<void> {
    return this.tools.server.logoutFix(id);
  }

  resetFix(id: string): Promise<void> {
    return this.tools.server.resetFix(id);
  }

  private receive(message: Message): void {
    try {
      const event = decodeText(session, message.body);
      if (!message.isSnapshot) this.received.add(adapterKey(event));
      this.known.upsert(event);
      this.described.refresh();
    } catch (error) {
      this.tools.onTrouble(error);
    }
  }

  private async poll(): Promise<void> {
    try {
      const { server } = this.tools;
      const [fix, health] = await Promise.all([server.fixSessions(), server.health(), this.described.load()]);
      this.showFix(fix);
      this.applyHealth(health);
    } catch {
      // The connection state shows that the server cannot be reached; the last FIX sessions stay until it is back.
      this.health.set(null);
    }
  }

  /** The topic has only the last session event of an adapter as its snapshot; health has all sessions by name. */
  private applyHealth(health: Health): void {
    this.health.set(health);
    for (const check of health.checks) {
      const named = ADAPTER_CHECK.exec(check.name);
      if (!named || !isSessionState(check.detail)) continue;
      const key = named[0].slice(PREFIX.length);
      if (this.received.has(key) || this.known.row(key)?.state === check.detail) continue;
      this.known.upsert({ dateTime: null, adapter: named[1] ?? '', qualifier: named[2] ?? null, state: check.detail });
    }
  }

  /** A venue without a known session is left out. */
  private venue(key: string, name: string): Venue[] {
    const session = this.known.row(key);
    const { openFor = 'ORDERS', lines = [], orders = null, proof = null } = this.details.row(key) ?? {};
    return session === undefined ? [] : [{ key, name, isAway: !REACHED.has(session.state), openFor, lines, orders, proof }];
  }

  private notify(venues: readonly Venue[]): void {
    const before = this.away;
    this.away = new Set(venues.filter(({ isAway }) => isAway).map(({ key }) => key));
    for (const { key, name, isAway } of venues) if (isAway !== before.has(key)) this.tools.onVenue(name, isAway);
  }

  /** Rows that did not change stay, so that the grid keeps its scroll position and focus. */
  private showFix(sessions: readonly FixSessionVO[]): void {
    const ids = new Set(sessions.map((row) => row.id));
    for (const row of this.fix.get()) if (!ids.has(row.id)) this.fix.remove(row.id);
    for (const row of sessions) this.fix.upsert(row);
  }
}

function venueOf({ adapterType, sessionQualifier }: AccountVO): [string, string] {
  return sessionQualifier === null ? [adapterType, adapterType] : [`${adapterType}-${sessionQualifier}`, sessionQualifier];
}

function adapterKey(event: AdapterSession): string {
  return event.qualifier === null ? event.adapter : `${event.adapter}-${event.qualifier}`;
}
