/** Row source of a grid for a list that is loaded as a whole. */

import type { RowChange, RowSource } from './types';

export class RowList<Row> implements RowSource<Row> {
  private rows: readonly Row[] = [];
  private readonly listeners = new Set<(change: RowChange<Row>) => void>();

  set(rows: readonly Row[]): void {
    this.rows = rows;
    for (const listener of this.listeners) listener(this.all());
  }

  watch(listener: (change: RowChange<Row>) => void): () => void {
    this.listeners.add(listener);
    listener(this.all());
    return () => this.listeners.delete(listener);
  }

  private all(): RowChange<Row> {
    return { reset: true, upserted: this.rows, removed: [] };
  }
}
