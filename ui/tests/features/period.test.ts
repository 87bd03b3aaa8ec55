import { expect, test } from 'vitest';
import { startOf } from '../../src/features/history/period';

test('a day begins at midnight of the zone, and ends where the next one begins', () => {
  expect(startOf('2026-02-28', 'UTC')).toBe(Date.UTC(2026, 1, 28));
  expect(startOf('2026-02-28', 'UTC', 1)).toBe(Date.UTC(2026, 2, 1));
  expect(startOf('2026-11-15', 'local')).toBe(new Date(2026, 10, 15).getTime());
});

test.each(['', '2026', 'yesterday', '26-11-15'])('%j is no day', (text) => expect(startOf(text, 'UTC')).toBeNull());
