/** What can be done to a break, and what happened to it. */

import type { BreakState, BreakVO } from '../../wire/types';

export type Act = 'explain' | 'accept' | 'repair';

/** A break with a known cause may still be accepted or repaired. */
export function actsIn(state: BreakState): readonly Act[] {
  if (state === 'OPEN') return ['explain', 'accept', 'repair'];
  return state === 'EXPLAINED' ? ['accept', 'repair'] : [];
}

export interface Step {
  at: number;
  /** `null`: it was found. */
  state: BreakState | null;
  by: string | null;
  comment: string | null;
}

/** The oldest first. */
export function historyOf({ since, changedAt, changedBy, comment, state }: BreakVO): Step[] {
  const found: Step = { at: Date.parse(since), state: null, by: null, comment: null };
  return state === 'OPEN' ? [found] : [found, { at: Date.parse(changedAt), state, by: changedBy, comment }];
}
