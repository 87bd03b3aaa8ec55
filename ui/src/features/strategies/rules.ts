/** Rules for starting and stopping a strategy in its phase, and why not. */

import type { Texts } from '../../texts';
import type { StrategyVO } from '../../wire/types';

type Words = Pick<Texts['strategies'], 'isRecord' | 'isHand' | 'runs' | 'rests'>;

/** The strategy that manual orders belong to. */
const SERVER = 'SERVER';

/** A strategy without a phase has no program in this server and can never be started here. */
export function refusalToStart({ name, phase }: StrategyVO, words: Words): string | undefined {
  if (name === SERVER) return words.isHand;
  if (phase === null) return words.isRecord;
  return phase === 'EXIT' ? undefined : words.runs;
}

export function refusalToStop({ name, phase }: StrategyVO, words: Words): string | undefined {
  if (name === SERVER) return words.isHand;
  if (phase === null) return words.isRecord;
  return phase === 'EXIT' ? words.rests : undefined;
}
