/**
 * Reading the past. It comes after what is live, so a call that fails must not leave a hole: it is asked for again, until it
 * is there, or something else is wanted, or the connection is lost and all begins anew.
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
  /** Counts what was asked for; an answer to an older question is ignored. */
  private round = 0;

  constructor(private readonly tools: JoinTools) {
    tools.feed.onLink((isUp) => !isUp && this.forget());
  }

  /** Nobody waits any longer for what was asked. */
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
  /** Takes rows of which some may be known already. */
  keep(rows: readonly T[]): void;
}

/**
 * The past of the strategy, or of the security, that is looked at. The newest rows of all may have none of a quiet one, so
 * its own are read whenever it is selected, and again after every snapshot of all.
 */
export class SelectedHistory<T> {
  private readonly reader: HistoryReader;
  /** What is selected before the first snapshot is read with it. */
  private hasSnapshot = false;

  constructor(private readonly tools: SelectedHistoryTools<T>) {
    this.reader = new HistoryReader(tools);
    tools.selected.subscribe(() => this.hasSnapshot && this.load());
  }

  get isCut(): Readable<boolean> {
    return this.reader.isCut;
  }

  /** A snapshot of all is there. */
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

/** One that this browser remembers and the server does not have: it has no past, and others see to it. */
function isUnknown(error: unknown): boolean {
  return error instanceof WireError && ['unknown-strategy', 'unknown-security'].includes(error.code);
}
