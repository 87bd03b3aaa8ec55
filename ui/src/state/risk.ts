/** Risk store: trading states and limits of all scopes. */

import { tradingState } from '../wire/decoders';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { LimitsVO, TradingState, TradingStateName } from '../wire/types';

export { amountLimits, countLimits } from '../wire/values/risk';
import type { Readable, Risk } from './api';
import { Join, type JoinTools } from './join';
import { derive } from './readable';
import { Rows } from './table';

export const PLATFORM = 'PLATFORM';

export interface RiskTools extends JoinTools {
  server: Pick<Server, 'tradingStates' | 'setTradingState' | 'kill' | 'limits' | 'setLimits'>;
}

export class RiskStore implements Risk {
  readonly states: Rows<string, TradingState>;
  readonly limits: Rows<string, LimitsVO>;
  readonly platform: Readable<TradingStateName>;

  constructor(private readonly tools: RiskTools) {
    this.states = new Rows(tools.clock, (state) => state.scope);
    this.limits = new Rows(tools.clock, (limits) => limits.scope);
    this.platform = derive([this.states], () => this.states.row(PLATFORM)?.state ?? 'ACTIVE');
    new Join(
      {
        topic: topics.risk,
        decoder: tradingState,
        snapshot: tools.server.tradingStates,
        reset: (states: TradingState[]) => this.states.reset(states),
        apply: (state) => this.states.upsert(state),
      },
      tools,
    );
  }

  /** Limits have no topic; they are loaded at a connect and after a change from this screen. */
  async loadLimits(): Promise<void> {
    this.limits.reset((await this.tools.server.limits()).value);
  }

  async kill(scope: string, reason: string): Promise<number> {
    return (await this.tools.server.kill(scope, reason)).cancels;
  }

  setState(scope: string, state: TradingStateName, reason: string): Promise<void> {
    return this.tools.server.setTradingState(scope, state, reason);
  }

  async setLimits(limits: LimitsVO): Promise<void> {
    await this.tools.server.setLimits(limits);
    await this.loadLimits();
  }
}
