import { expect, test } from 'vitest';
import { sameUpTo } from '../../src/parts/flash';

test('only the digits that moved are lit', () => {
  expect([sameUpTo('272.32', '272.35'), sameUpTo('272.39', '272.41'), sameUpTo('99.98', '100.02'), sameUpTo('272.32', '272.32')]).toEqual([5, 4, 0, 6]);
});
