import { expect, test } from 'vitest';
import { rateIn, wantedIds } from '../../src/features/market/sight';

const LISTED = Array.from({ length: 300 }, (_, index) => index + 1);

test('at the default rate only visible rows are subscribed', () => {
  expect(wantedIds(LISTED, [5, 6, 7], 50)).toEqual([5, 6, 7]);
});

test('a rate that is plenty keeps the whole list fresh', () => {
  expect(wantedIds(LISTED, [5, 6, 7], 5_000)).toBe(LISTED);
});

test('a missing rate is none', () => {
  expect([rateIn({ 'broker.maxRatePerConnection': '5000' }), rateIn({}), rateIn({ 'broker.maxRatePerConnection': 'x' })]).toEqual([
    5_000, 0, 0,
  ]);
});
