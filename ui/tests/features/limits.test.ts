import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limitsOf, linesOf } from '../../src/features/risk/limits';
import type { LimitsVO } from '../../src/wire/types';

const LIMITS = JSON.parse(readFileSync('../contract/json/LimitsVO.json', 'utf8')) as LimitsVO;

test('limits go into the form and come back the same', () => {
  const lines = linesOf(LIMITS);
  expect(lines).toMatchObject({ maxOrderQuantity: '10000', maxLong: '', duplicateGuard: '5 in 1000', rejectBreaker: '' });
  expect(limitsOf(LIMITS, lines)).toEqual(LIMITS);
});

test('an emptied line takes the limit away, a new one sets it', () => {
  const lines = { ...linesOf(LIMITS), maxOrderQuantity: ' ', rejectBreaker: '100 in 10000ms' };
  expect(limitsOf(LIMITS, lines)).toEqual({
    ...LIMITS,
    maxOrderQuantity: null,
    rejectBreaker: { count: 100, millis: 10000 },
  });
});

test('a line that cannot be read is named', () => {
  expect(limitsOf(LIMITS, { ...linesOf(LIMITS), maxLong: 'lots' })).toEqual({ name: 'maxLong' });
  expect(limitsOf(LIMITS, { ...linesOf(LIMITS), duplicateGuard: '5' })).toEqual({ name: 'duplicateGuard' });
});
