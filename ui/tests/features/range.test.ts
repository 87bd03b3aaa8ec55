import { expect, test } from 'vitest';
import { dayRange } from '../../src/features/chart/range';
import type { Bar } from '../../src/wire/types';

const DAY_MS = 86_400_000;
const bar = (dateTime: number, low: number, high: number) => ({ dateTime, low, high }) as Bar;

test('the range is that of the newest day alone', () => {
  expect(dayRange([bar(DAY_MS - 1, 1, 99), bar(DAY_MS, 20, 30), bar(DAY_MS + 60_000, 25, 31)])).toEqual({ low: 20, high: 31 });
  expect(dayRange([])).toBeNull();
});
