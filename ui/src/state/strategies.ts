/** Strategies and the phase that each is in. */

import { lifeCycle } from '../wire/decoders';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { LifeCycleEvent, StrategyVO } from '../wire/types';
import type { Readable, Strategies, Table } from './api';
import { Join, type JoinTools } from './join';
import { derive } from './readable';
import { Rows, View } from './table';

export interface StrategyTools extends JoinTools {
  server: Pick<Server, 'strategies' | 'startStrategy' | 'stopStrategy'>;
  strategy: Readable<number | null>;
  /** The selected one is none that the server has. */
  onUnknown(): void;
}

export class StrategyList implements Strategies {
  readonly all: Rows<number, StrategyVO>;
  readonly selected: Table<number, StrategyVO>;

  constructor(private readonly tools: StrategyTools) {
    this.all = new Rows(tools.clock, (strategy) => strategy.id);
    const isSelected = derive([tools.strategy], (id) => (strategy: StrategyVO) => id === null || strategy.id === id);
    this.selected = new View(this.all, isSelected);
    new Join(
      {
        topic: topics.lifeCycles,
        decoder: lifeCycle,
        snapshot: tools.server.strategies,
        reset: (strategies: StrategyVO[]) => this.reset(strategies),
        apply: (event) => this.enter(event),
      },
      tools,
    );
  }

  start(name: string): Promise<void> {
    return this.tools.server.startStrategy(name);
  }

  stop(name: string): Promise<void> {
    return this.tools.server.stopStrategy(name);
  }

  private reset(strategies: readonly StrategyVO[]): void {
    this.all.reset(strategies);
    const selected = this.tools.strategy.get();
    if (selected !== null && this.all.row(selected) === undefined) this.tools.onUnknown();
  }

  private enter(event: LifeCycleEvent): void {
    const strategy = this.all.get().find((candidate) => candidate.name === event.strategyName);
    if (strategy) this.all.upsert({ ...strategy, phase: event.phase, lastError: event.reason ?? null });
  }
}
