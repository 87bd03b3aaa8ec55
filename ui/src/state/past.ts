/**
 * The past of the strategy, or of the security, that is looked at. The newest rows of all may have none of a quiet one, so
 * its own are read whenever it is selected, and again after every picture of all.
 */

import { WireError } from '../wire/error';
import type { Picture } from '../wire/rest';
import type { Readable } from './api';

export interface PastTools<T> {
  selected: Readable<number | null>;
  read(id: number): Promise<Picture<T[]>>;
  /** Takes rows of which some may be known already. */
  keep(rows: readonly T[]): void;
  onTrouble(error: unknown): void;
}

export class SelectedPast<T> {
  /** What is selected before the first picture is read with it. */
  private isPictured = false;

  constructor(private readonly tools: PastTools<T>) {
    tools.selected.subscribe(() => this.isPictured && this.recall());
  }

  /** A picture of all is there. */
  pictured(): void {
    this.isPictured = true;
    this.recall();
  }

  private recall(): void {
    const { selected, read, keep, onTrouble } = this.tools;
    const id = selected.get();
    if (id === null) return;
    const tell = (error: unknown) => isUnknown(error) || onTrouble(error);
    read(id).then(({ value }) => keep(value)).catch(tell);
  }
}

/** One that this browser remembers and the server does not have: it has no past, and others see to it. */
function isUnknown(error: unknown): boolean {
  return error instanceof WireError && ['unknown-strategy', 'unknown-security'].includes(error.code);
}
