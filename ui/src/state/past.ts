/**
 * The past of the strategy that is looked at. The newest rows of all strategies may have none of a quiet one, so its own
 * are read whenever it is selected, and again after every picture of all.
 */

import type { Picture } from '../wire/rest';
import type { Readable } from './api';

export interface PastTools<T> {
  strategy: Readable<number | null>;
  read(strategyId: number): Promise<Picture<T[]>>;
  /** Takes rows of which some may be known already. */
  keep(rows: readonly T[]): void;
  onTrouble(error: unknown): void;
}

export class SelectedPast<T> {
  /** What is selected before the first picture is read with it. */
  private isPictured = false;

  constructor(private readonly tools: PastTools<T>) {
    tools.strategy.subscribe(() => this.isPictured && this.recall());
  }

  /** A picture of all strategies is there. */
  pictured(): void {
    this.isPictured = true;
    this.recall();
  }

  private recall(): void {
    const { strategy, read, keep, onTrouble } = this.tools;
    const selected = strategy.get();
    if (selected !== null) read(selected).then(({ value }) => keep(value)).catch(onTrouble);
  }
}
