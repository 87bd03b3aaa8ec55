/** Breaks store: where the books of the platform and of its venues differ. */

import { breakVo } from '../wire/decoders';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { BreakVO, Comparison } from '../wire/types';
import type { Breaks, Freshness, Readable, Table } from './api';
import { Join, type JoinTools } from './join';
import { Cell, derive } from './readable';
import { Rows, View } from './table';

export interface BreaksTools extends JoinTools {
  server: Pick<Server, 'breaks' | 'comparisons' | 'explainBreak' | 'acceptBreak' | 'repairBreak'>;
  /** A break was found, or settled. */
  onChange(found: BreakVO): void;
}

export class BreakList implements Breaks {
  readonly all: Rows<string, BreakVO>;
  readonly open: Table<string, BreakVO>;
  readonly openCount: Readable<number>;
  readonly freshness: Readable<Freshness>;

  constructor(private readonly tools: BreaksTools) {
    this.all = new Rows(tools.clock, (row) => row.id);
    this.open = new View(this.all, new Cell(isOpen));
    this.openCount = derive([this.open], (rows) => rows.length);
    const join = new Join(
      {
        topic: topics.breaks,
        decoder: breakVo,
        snapshot: tools.server.breaks,
        reset: (rows: BreakVO[]) => this.all.reset(rows),
        apply: (row) => this.apply(row),
      },
      tools,
    );
    this.freshness = join.freshness;
  }

  comparisons(): Promise<Comparison[]> {
    return this.tools.server.comparisons();
  }

  explain(id: string, comment: string): Promise<void> {
    return this.tools.server.explainBreak(id, comment);
  }

  accept(id: string, comment: string): Promise<void> {
    return this.tools.server.acceptBreak(id, comment);
  }

  repair(id: string, comment: string): Promise<void> {
    return this.tools.server.repairBreak(id, comment);
  }

  private apply(row: BreakVO): void {
    const before = this.all.row(row.id);
    this.all.upsert(row);
    const wasOpen = before !== undefined && isOpen(before);
    if (isOpen(row) !== wasOpen) this.tools.onChange(row);
  }
}

export function isOpen({ state }: Pick<BreakVO, 'state'>): boolean {
  return state === 'OPEN';
}
