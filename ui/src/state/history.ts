/**
 * History reader: loads past rows after the live ones. A failed call must not leave a gap, so it is repeated until it succeeds, or
 * other rows are requested, or the connection is lost and everything is loaded again.
 */

import { WireError } from '../wire/error';
import type { Snapshot } from '../wire/rest';
import { type IsWanted, PAST_ROWS } from '../wire/server';
import type { Readable } from './api';
import { type JoinTools, RETRY_AFTER_MS } from './join';
import { Cell } from './readable';

export class HistoryReader {
  /** Whether the server has more than was read. */
  readonly isCut = new Cell(false);
  /** Counts the requests; a reply to an older request is ignored. */
  private round = 0;

  constructor(private readonly tools: JoinTools) {
    tools.feed.onLink((isUp) => !isUp && this.forget());
  }

  /** Cancels the running request. */
  forget(): void {
    this.round += 1;
  }

  load<T>(read: (isWanted: IsWanted) => Promise<Snapshot<T[]>>, apply: (rows: T[]) => void): void {
    const round = ++this.round;
    const isWanted = () => round === this.round;
    const answer = ({ value }: Snapshot<T[]>) => {
      this.isCut.set(value.length >= PAST_ROWS);
      apply(value);
    };
    const fail = (error: unknown) => {
      if (isUnknown(error)) return;
      if (!(error instanceof WireError)) this.tools.onTrouble(error);
      this.tools.clock.after(RETRY_AFTER_MS, () => isWanted() && this.load(read, apply));
    };
    read(isWanted).then(
      (snapshot) => isWanted() && answer(snapshot),
      (error: unknown) => isWanted() && fail(error),
    );
  }
}

export interface SelectedHistoryTools<T> extends JoinTools {
  selected: Readable<number | null>;
  read(id: number, isWanted: IsWanted): Promise<Snapshot<T[]>>;
  /** Stores rows, of which some may be known already. */
  keep(rows: readonly T[]): void;
}

/**
 * History of the selected strategy or security. The newest rows of all may contain none of a quiet one, so its own rows are
 * loaded whenever it is selected, and again after every snapshot of all.
 */
export class SelectedHistory<T> {
  private readonly reader: HistoryReader;
  /** Before the first snapshot a selection loads nothing: its rows are loaded after that snapshot. */
  private hasSnapshot = false;

  constructor(private readonly tools: SelectedHistoryTools<T>) {
    this.reader = new HistoryReader(tools);
    tools.selected.subscribe(() => this.hasSnapshot && this.load());
  }

  get isCut(): Readable<boolean> {
    return this.reader.isCut;
  }

  /** A snapshot of all rows has arrived. */
  onSnapshot(): void {
    this.hasSnapshot = true;
    this.load();
  }

  private load(): void {
    const { selected, read, keep } = this.tools;
    const id = selected.get();
    if (id === null) return this.reader.forget();
    this.reader.load((isWanted) => read(id, isWanted), keep);
  }
}

/** A strategy or security that this browser remembers and the server does not have: it has no history, and another store reports it. */
function isUnknown(error: unknown): boolean {
  return error instanceof WireError && ['unknown-strategy', 'unknown-security'].includes(error.code);
}
