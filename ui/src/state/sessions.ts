/** The server's connections to venues and FIX clients, and what it says of its own health. */

import { decodeText } from '../wire/decode';
import { session } from '../wire/decoders';
import type { Feed, Message } from '../wire/feed';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { FixSessionVO, Health, SessionState } from '../wire/types';
import type { AdapterSession, Clock, Sessions, Stop } from './api';
import { Cell } from './readable';
import { Rows } from './table';

/** No topic tells of FIX clients and health, so whoever looks asks, in milliseconds. */
const LOOK_EVERY_MS = 3_000;

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
  server: Pick<Server, 'fixSessions' | 'health' | 'logoutFix' | 'resetFix'>;
  onTrouble(error: unknown): void;
}

export class SessionList implements Sessions {
  readonly adapters: Rows<string, AdapterSession>;
  readonly fix: Rows<string, FixSessionVO>;
  readonly health = new Cell<Health | null>(null);
  private lookers = 0;

  constructor(private readonly tools: SessionsTools) {
    this.adapters = new Rows(tools.clock, adapterKey);
    this.fix = new Rows(tools.clock, (row) => row.id);
    tools.feed.subscribe(topics.sessions, { message: (message) => this.receive(message) }, { snapshot: true });
    tools.clock.every(LOOK_EVERY_MS, () => this.lookers > 0 && void this.ask());
  }

  look(): Stop {
    this.lookers += 1;
    void this.ask();
    return () => {
      this.lookers -= 1;
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
      this.adapters.put(decodeText(session, message.body));
    } catch (error) {
      this.tools.onTrouble(error);
    }
  }

  private async ask(): Promise<void> {
    try {
      const [fix, health] = await Promise.all([this.tools.server.fixSessions(), this.tools.server.health()]);
      this.showFix(fix);
      this.health.set(health);
      this.addAdapters(health);
    } catch {
      // The connection state says that the server is away; its last word stays until it is back.
      this.health.set(null);
    }
  }

  /** One topic has all sessions of an adapter and remembers the last; health knows the others by name. */
  private addAdapters(health: Health): void {
    for (const check of health.checks) {
      const named = ADAPTER_CHECK.exec(check.name);
      if (!named || !isSessionState(check.detail) || this.adapters.row(named[0].slice(PREFIX.length))) continue;
      this.adapters.put({ dateTime: null, adapter: named[1] ?? '', qualifier: named[2] ?? null, state: check.detail });
    }
  }

  /** Rows that did not change stay, so that nobody loses the place in the list. */
  private showFix(sessions: readonly FixSessionVO[]): void {
    const ids = new Set(sessions.map((row) => row.id));
    for (const row of this.fix.get()) if (!ids.has(row.id)) this.fix.remove(row.id);
    for (const row of sessions) this.fix.put(row);
  }
}

function adapterKey(event: AdapterSession): string {
  return event.qualifier === null ? event.adapter : `${event.adapter}-${event.qualifier}`;
}
