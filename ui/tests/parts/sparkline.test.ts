import { expect, test } from 'vitest';
import { sparkPoints } from '../../src/parts/sparkline';

test('prices run from left to right, the highest on top', () => {
  expect(sparkPoints([10, 30, 20], 44, 24, 2)).toEqual([
    { x: 2, y: 22 },
    { x: 22, y: 2 },
    { x: 42, y: 12 },
  ]);
});

test('a price that does not move is a line in the middle', () => {
  expect(sparkPoints([5, 5], 24, 24, 2).map((point) => point.y)).toEqual([12, 12]);
});

test('one price is no line', () => {
  expect(sparkPoints([5], 44, 24, 2)).toEqual([]);
});
