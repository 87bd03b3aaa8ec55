/**
 * Preferences of a user: watch list, layout, settings. The server keeps one document for each user; this browser keeps a copy by
 * the user's name, for the first paint and for a server that cannot answer. The keys of unwritten changes are recorded, so that
 * a change made elsewhere is merged and not overwritten.
 */

import { WireError } from '../wire/error';
import type { Server } from '../wire/server';
import type { Clock, Stop, UserMemory } from './api';
import { Cell } from './readable';
import type { Memory } from './storage';

/** Changes are written after this time without a further change, in milliseconds. */
export const WRITE_AFTER_MS = 1_000;
/** The screen waits this long for the server's document and then opens with the browser's copy, in milliseconds. */
export const LOAD_TIMEOUT_MS = 2_000;
/** A failed read or write is repeated after this, in milliseconds. */
export const RETRY_AFTER_MS = 5_000;

const LAST_USER = 'user';
/** Owner of the one document of a server without logins. */
const LOCAL = 'local';
const CHANGED = 412;

type Document = Record<string, unknown>;
type Listener = (value: unknown) => void;

export interface PreferencesTools {
  server: Pick<Server, 'settings' | 'keepSettings'>;
  clock: Clock;
  /** Memory of this browser, for all users. */
  browser: Memory;
  /** The server rejected the change; it stays in this browser. */
  onRefused(error: unknown): void;
}

export class Preferences implements UserMemory {
  /** Whether the screen may open: the server's document has arrived, or the wait for it has timed out. */
  readonly isReady = new Cell(false);
  private owner: string | null;
  private document: Document = {};
  /** Changed here, and not on the server yet. */
  private dirty = new Set<string>();
  /** ETag of the server's document when it was last read or written; `null` before the first reply. */
  private tag: string | null = null;
  private isBusy = false;
  /** The running read or write. */
  private running: Promise<void> = Promise.resolve();
  private readonly heldBack = new Set<() => void>();
  private stopWaiting: Stop = () => undefined;
  private readonly listeners = new Map<string, Set<Listener>>();

  /** Until the identity is known, the screen uses the copy of the last user who did not log out. */
  constructor(private readonly tools: PreferencesTools) {
    const last = tools.browser.read(LAST_USER);
    this.owner = typeof last === 'string' ? last : null;
    this.loadCopy();
  }

  read(key: string): unknown {
    return this.document[key] ?? null;
  }

  write(key: string, value: unknown): void {
    if (this.owner === null || isSame(this.document[key], value)) return;
    this.document = { ...this.document, [key]: value };
    this.dirty.add(key);
    this.saveCopy();
    this.schedule(WRITE_AFTER_MS);
  }

  /** Notifies of changes made elsewhere, and of another user's value; not of what is written here. */
  watch(key: string, listener: Listener): Stop {
    const listeners = this.listeners.get(key) ?? new Set();
    this.listeners.set(key, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** A user logged in. The same user again, after a lost connection, changes nothing. */
  enter(user: string | null): void {
    const owner = user === null ? LOCAL : `user.${user}`;
    if (this.owner === owner && this.isReady.get()) return;
    this.change(() => {
      this.forget();
      this.owner = owner;
      this.loadCopy();
    });
    this.isReady.set(false);
    this.tools.browser.write(LAST_USER, owner);
    this.stopWaiting = this.tools.clock.after(LOAD_TIMEOUT_MS, () => this.isReady.set(true));
    void this.synchronise();
  }

  /** A user logged out: the next user finds no value of this one. */
  leave(): void {
    this.tools.browser.write(LAST_USER, null);
    this.change(() => this.forget());
    this.isReady.set(false);
  }

  whenReady(): Promise<void> {
    return new Promise((resolve) => {
      const stop: Stop = this.isReady.subscribe((isReady) => isReady && queueMicrotask(() => (stop(), resolve())));
    });
  }

  beforeFlush(write: () => void): Stop {
    this.heldBack.add(write);
    return () => this.heldBack.delete(write);
  }

  /** Writes waiting changes at once, before a logout or a closed page. */
  async flush(): Promise<void> {
    for (const write of this.heldBack) write();
    this.stopWaiting();
    await this.running;
    if (this.dirty.size > 0) await this.synchronise();
  }

  /** For this user and this browser alone: the current selection is not a preference. */
  here(): Memory {
    const keyed = (key: string) => `${this.owner ?? LOCAL}.${key}`;
    return {
      read: (key) => (this.owner === null ? null : this.tools.browser.read(keyed(key))),
      write: (key, value) => this.owner !== null && this.tools.browser.write(keyed(key), value),
    };
  }

  private forget(): void {
    this.stopWaiting();
    [this.owner, this.document, this.tag, this.isBusy] = [null, {}, null, false];
    this.dirty = new Set();
  }

  private schedule(ms: number): void {
    if (!this.isReady.get()) return;
    this.stopWaiting();
    this.stopWaiting = this.tools.clock.after(ms, () => void this.synchronise());
  }

  /** Reads the server's document, where that is not known, and writes the changes made here. */
  private synchronise(): Promise<void> {
    if (this.isBusy || this.owner === null) return Promise.resolve();
    this.isBusy = true;
    this.running = this.exchange(this.owner);
    return this.running;
  }

  private async exchange(owner: string): Promise<void> {
    try {
      if (this.tag === null) await this.load(owner);
      if (this.owner === owner && this.dirty.size > 0 && this.tag !== null) await this.save(owner, this.tag);
    } catch (error) {
      if (this.owner === owner) this.failed(error);
    } finally {
      if (this.owner === owner) this.isBusy = false;
    }
  }

  private async load(owner: string): Promise<void> {
    const { tag, value } = await this.tools.server.settings();
    if (this.owner !== owner) return;
    this.tag = tag;
    const own = [...this.dirty].map((key) => [key, this.document[key]]);
    this.change(() => (this.document = { ...value, ...Object.fromEntries(own) }));
    this.saveCopy();
    this.open();
  }

  private async save(owner: string, before: string): Promise<void> {
    const sent = this.dirty;
    this.dirty = new Set();
    try {
      const tag = await this.tools.server.keepSettings(this.document, before);
      if (this.owner !== owner) return;
      this.tag = tag;
      this.saveCopy();
      if (this.dirty.size > 0) this.schedule(WRITE_AFTER_MS);
    } catch (error) {
      if (this.owner === owner) for (const key of sent) this.dirty.add(key);
      throw error;
    }
  }

  /** Another browser wrote first: read again, merge, write again. A rejected change waits for the next change. */
  private failed(error: unknown): void {
    const status = error instanceof WireError ? error.status : null;
    const isConflict = status === CHANGED;
    const isAway = status === 0 || (status !== null && status >= 500);
    if (isConflict) this.tag = null;
    this.open();
    if (isConflict || isAway) this.schedule(isConflict ? 0 : RETRY_AFTER_MS);
    else this.tools.onRefused(error);
  }

  private open(): void {
    if (this.isReady.get()) return;
    this.stopWaiting();
    this.isReady.set(true);
  }

  private change(work: () => void): void {
    const before = this.document;
    work();
    for (const [key, listeners] of this.listeners) {
      if (isSame(before[key], this.document[key])) continue;
      for (const listener of listeners) listener(this.read(key));
    }
  }

  private loadCopy(): void {
    if (this.owner === null) return;
    const copy = keyed(this.tools.browser.read(`${this.owner}.document`));
    this.document = keyed(copy['document']);
    const dirty = copy['dirty'];
    this.dirty = new Set(Array.isArray(dirty) ? dirty.filter((key) => typeof key === 'string') : []);
  }

  private saveCopy(): void {
    const { document, dirty } = this;
    this.tools.browser.write(`${this.owner}.document`, { document, dirty: [...dirty] });
  }
}

function keyed(value: unknown): Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Document) : {};
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
