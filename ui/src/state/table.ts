/**
 * Observable table: rows by key. Reads see a change at once; watchers are notified once a frame, with the newest value of each
 * row. In a hidden tab there are no frames: the changes wait, one per row, and arrive together.
 */

import type { Change, Clock, Readable, Stop, Table } from './api';
import { derive } from './readable';

interface Waiting<T> {
  row: T;
  /** Whether watchers have received the row already. */
  isKnown: boolean;
  isRemoved: boolean;
}

export class Rows<K, T> implements Table<K, T> {
  private readonly rows = new Map<K, T>();
  private readonly listeners = new Set<(change: Change<T>) => void>();
  private waiting = new Map<K, Waiting<T>>();
  private isResetWaiting = false;
  private isFrameRequested = false;
  private list: readonly T[] | null = null;

  constructor(
    private readonly clock: Clock,
    readonly keyOf: (row: T) => K,
  ) {}

  size(): number {
    return this.rows.size;
  }

  row(key: K): T | undefined {
    return this.rows.get(key);
  }

  get(): readonly T[] {
    this.list ??= [...this.rows.values()];
    return this.list;
  }

  upsert(row: T): void {
    const key = this.keyOf(row);
    const isKnown = this.waiting.get(key)?.isKnown ?? this.rows.has(key);
    this.rows.set(key, row);
    this.record(key, { row, isKnown, isRemoved: false });
  }

  remove(key: K): void {
    const row = this.rows.get(key);
    if (row === undefined) return;
    const isKnown = this.waiting.get(key)?.isKnown ?? true;
    this.rows.delete(key);
    this.record(key, { row, isKnown, isRemoved: true });
  }

  /** Replaces all rows. */
  reset(rows: readonly T[]): void {
    this.rows.clear();
    for (const row of rows) this.rows.set(this.keyOf(row), row);
    this.waiting = new Map();
    this.isResetWaiting = true;
    this.requestFrame();
  }

  watch(listener: (change: Change<T>) => void): Stop {
    this.listeners.add(listener);
    listener({ reset: true, upserted: this.get(), removed: [] });
    return () => this.listeners.delete(listener);
  }

  subscribe(run: (rows: readonly T[]) => void): Stop {
    return this.watch(() => run(this.get()));
  }

  private record(key: K, change: Waiting<T>): void {
    if (!this.isResetWaiting) this.waiting.set(key, change);
    this.requestFrame();
  }

  private requestFrame(): void {
    this.list = null;
    if (this.isFrameRequested) return;
    this.isFrameRequested = true;
    this.clock.onFrame(() => this.notify());
  }

  private notify(): void {
    this.isFrameRequested = false;
    const change = this.isResetWaiting ? { reset: true, upserted: this.get(), removed: [] } : collected(this.waiting);
    this.waiting = new Map();
    this.isResetWaiting = false;
    for (const listener of [...this.listeners]) listener(change);
  }
}

function collected<T>(waiting: Map<unknown, Waiting<T>>): Change<T> {
  const all = [...waiting.values()];
  return {
    reset: false,
    upserted: all.filter((change) => !change.isRemoved).map((change) => change.row),
    removed: all.filter((change) => change.isRemoved && change.isKnown).map((change) => change.row),
  };
}

/** The rows of a table that pass a test; the test may change. */
export class View<K, T> implements Table<K, T> {
  private readonly rows: Readable<readonly T[]>;

  constructor(
    private readonly table: Table<K, T>,
    private readonly test: Readable<(row: T) => boolean>,
  ) {
    this.rows = derive([table as Readable<readonly T[]>, test], (rows, passes) => rows.filter(passes));
  }

  keyOf = (row: T): K => this.table.keyOf(row);

  size(): number {
    return this.get().length;
  }

  row(key: K): T | undefined {
    const row = this.table.row(key);
    return row !== undefined && this.test.get()(row) ? row : undefined;
  }

  get(): readonly T[] {
    return this.rows.get();
  }

  subscribe(run: (rows: readonly T[]) => void): Stop {
    return this.watch(() => run(this.get()));
  }

  /** A watcher is notified of a removal only for a row that it has received. */
  watch(listener: (change: Change<T>) => void): Stop {
    const shown = new Set<K>();
    const notify = (change: Change<T>) => listener(this.passed(change, shown));
    const stopTable = this.table.watch(notify);
    let isFirst = true;
    const stopTest = this.test.subscribe(() => {
      if (!isFirst) notify({ reset: true, upserted: this.table.get(), removed: [] });
      isFirst = false;
    });
    return () => {
      stopTable();
      stopTest();
    };
  }

  private passed(change: Change<T>, shown: Set<K>): Change<T> {
    const passes = this.test.get();
    if (change.reset) shown.clear();
    const upserted = change.upserted.filter(passes);
    const gone = [...change.removed, ...change.upserted.filter((row) => !passes(row))];
    const removed = gone.filter((row) => shown.delete(this.keyOf(row)));
    for (const row of upserted) shown.add(this.keyOf(row));
    return { reset: change.reset, upserted, removed };
  }
}
