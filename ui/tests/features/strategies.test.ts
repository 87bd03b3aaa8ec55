import { expect, test } from 'vitest';
import { refusalToStart, refusalToStop } from '../../src/features/strategies/rules';
import { ENGLISH } from '../../src/texts';
import type { StrategyVO } from '../../src/wire/types';

const words = ENGLISH.strategies;

test.each([
  ['TREND', 'RUN', 'it runs already', 'may'],
  ['TREND', 'INIT', 'it runs already', 'may'],
  ['TREND', 'EXIT', 'may', 'it does not run'],
  ['PAIRS', null, 'this server has no program of it: its positions and orders are kept, it cannot run', 'this server has no program of it: its positions and orders are kept, it cannot run'],
  ['SERVER', null, 'it is what people trade in the name of, no program', 'it is what people trade in the name of, no program'],
])('%s in phase %s: start %s, stop %s', (name, phase, start, stop) => {
  const strategy = { id: 1, name, phase, autoActivate: false } as StrategyVO;
  expect([refusalToStart(strategy, words) ?? 'may', refusalToStop(strategy, words) ?? 'may']).toEqual([start, stop]);
});
