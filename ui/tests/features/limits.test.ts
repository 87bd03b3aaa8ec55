import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limitsOf, linesOf } from '../../src/features/risk/limits';
import { formatsOf } from '../../src/texts/formats';
import type { LimitsVO } from '../../src/wire/types';

const LIMITS = JSON.parse(readFileSync('../contract/json/LimitsVO.json', 'utf8')) as LimitsVO;
const english = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const german = formatsOf({ locale: 'de-DE', timeZone: 'UTC' });

test('limits go into the form and come back the same', () => {
  const lines = linesOf(LIMITS, english);
  expect(lines).toMatchObject({ maxOrderQuantity: '10000', maxLong: '', duplicateGuard: '5 in 1000', rejectBreaker: '', messagesPerSecond: '2000', executionBreaker: '100 in 60000' });
  expect(limitsOf(LIMITS, lines, english)).toEqual(LIMITS);
});

test('an emptied line takes the limit away, a new one sets it', () => {
  const lines = { ...linesOf(LIMITS, english), maxOrderQuantity: ' ', rejectBreaker: '100 in 10000ms' };
  expect(limitsOf(LIMITS, lines, english)).toEqual({
    ...LIMITS,
    maxOrderQuantity: null,
    rejectBreaker: { count: 100, millis: 10000 },
  });
});

test('every line that cannot be read is named, in the order of the form', () => {
  const lines = { ...linesOf(LIMITS, english), duplicateGuard: '5', maxLong: 'lots', maxOrderQuantity: '1e3' };
  expect(limitsOf(LIMITS, lines, english)).toEqual({ unreadable: ['maxOrderQuantity', 'maxLong', 'duplicateGuard'] });
});

test('amounts are written and read as everywhere on the screen', () => {
  const limits = { ...LIMITS, priceCollarPercent: 2.5 };
  expect(linesOf(limits, german)).toMatchObject({ priceCollarPercent: '2,5' });
  const lines = { ...linesOf(limits, german), maxOrderNotional: '1.500.000', maxLong: '10k', maxShort: '1.700' };
  expect(limitsOf(limits, lines, german)).toEqual({ unreadable: ['maxShort'] });
  expect(limitsOf(limits, { ...lines, maxShort: '' }, german)).toMatchObject({ maxOrderNotional: 1_500_000, maxLong: 10_000, priceCollarPercent: 2.5 });
});
