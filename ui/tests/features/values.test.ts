/** Series and calendar of the value history. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { calendarOf, equity, extentOf, linePath, monthsOf, sumOf, weekDays } from '../../src/features/values/series';
import type { ValueHistoryVO } from '../../src/wire/types';

const ROW = JSON.parse(readFileSync('../contract/json/ValueHistoryVO.json', 'utf8')) as ValueHistoryVO;
const row = (date: string, result: number | null, netLiqValue: number | null = null): ValueHistoryVO => ({ ...ROW, date, result, netLiqValue });

describe('the equity curve', () => {
  it('is the value where there is one', () => {
    expect(equity([row('2026-11-16', 5, 100), row('2026-11-17', 7, null), row('2026-11-18', 7, 112)], false)).toEqual([100, null, 112]);
  });

  it('of a security adds up its results', () => {
    expect(equity([row('2026-11-16', 5), row('2026-11-17', null), row('2026-11-18', -2)], false)).toEqual([5, null, 3]);
  });

  it('adds samples of one day to the days before, and not to each other', () => {
    const samples = [row('2026-11-16', 5), row('2026-11-16', 8), row('2026-11-17', 1), row('2026-11-17', -4)];
    expect(equity(samples, true)).toEqual([5, 8, 9, 4]);
  });
});

describe('a line', () => {
  const BOX = { width: 100, height: 10 };

  it('runs from left to right and is broken where a value is not known', () => {
    const series = [0, 10, null, 5];
    expect(linePath(series, extentOf(series)!, BOX)).toBe('M0 10L33.33 0M100 5');
  });

  it('that is flat, or of one value, runs through the middle', () => {
    expect(linePath([7, 7], extentOf([7, 7])!, BOX)).toBe('M0 5L100 5');
    expect(linePath([7], extentOf([7])!, BOX)).toBe('M0 5L100 5');
    expect(extentOf([null])).toBeNull();
  });
});

describe('the calendar', () => {
  const days = [row('2026-10-30', 1), row('2026-11-01', 2), row('2026-11-16', -3), row('2026-11-17', null)];

  it('has weeks from Monday to Sunday', () => {
    const weeks = calendarOf(days, '2026-11');
    expect(weeks).toHaveLength(6);
    expect(weeks[0]!.map(({ day }) => day)).toEqual([null, null, null, null, null, null, 1]);
    expect(weeks[5]!.map(({ day }) => day)).toEqual([30, null, null, null, null, null, null]);
    expect(weeks[0]![6]).toEqual({ day: 1, result: 2 });
    expect(weeks[3]!.slice(0, 3)).toEqual([{ day: 16, result: -3 }, { day: 17, result: null }, { day: 18, result: null }]);
    expect(calendarOf([], '2027-02')).toHaveLength(4);
  });

  it('has the months and sums of what is known', () => {
    expect(monthsOf(days)).toEqual(['2026-10', '2026-11']);
    expect(sumOf(days, '2026-11')).toBe(-1);
    expect(sumOf(days, '2026-12')).toBeNull();
    expect(weekDays('en')).toEqual(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']);
  });
});
