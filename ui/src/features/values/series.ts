/** Series and calendar of the value history. */

import type { ValueHistoryVO } from '../../wire/types';

/** Days of a week, from Monday on. */
const WEEK_DAYS = 7;
const DAY_MS = 86_400_000;

/** A value, or a gap where it was not known. */
export type Series = readonly (number | null)[];

/**
 * The value of the scope over time. A security has no cash and so no value of its own: its results are added up. Samples of one day
 * have the result of their day so far, and are added to the days before.
 */
export function equity(rows: readonly ValueHistoryVO[], isSamples: boolean): Series {
  if (rows.some((row) => row.netLiqValue !== null)) return rows.map((row) => row.netLiqValue);
  let before = 0;
  let sum = 0;
  return rows.map((row, place) => {
    if (!isSamples || rows[place - 1]?.date !== row.date) before = sum;
    if (row.result === null) return null;
    sum = before + row.result;
    return sum;
  });
}

export interface Box {
  width: number;
  height: number;
}

export interface Extent {
  lowest: number;
  highest: number;
}

/** The range of the known values; absent where none is known. */
export function extentOf(series: Series): Extent | null {
  const known = series.filter((value) => value !== null);
  if (known.length === 0) return null;
  return known.reduce<Extent>(
    ({ lowest, highest }, value) => ({ lowest: Math.min(lowest, value), highest: Math.max(highest, value) }),
    { lowest: Infinity, highest: -Infinity },
  );
}

/** A line through the known values, from left to right; it is broken at a gap. A flat one runs through the middle. */
export function linePath(series: Series, { lowest, highest }: Extent, { width, height }: Box): string {
  const span = highest - lowest;
  const step = series.length > 1 ? width / (series.length - 1) : 0;
  let isOpen = false;
  const parts = series.map((value, place) => {
    if (value === null) {
      isOpen = false;
      return '';
    }
    const y = span === 0 ? height / 2 : height * (1 - (value - lowest) / span);
    const part = `${isOpen ? 'L' : 'M'}${round(place * step)} ${round(y)}`;
    isOpen = true;
    return series.length === 1 ? `${part}L${width} ${round(y)}` : part;
  });
  return parts.join('');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export interface CalendarDay {
  /** Of the month; `null` before its first and after its last day. */
  day: number | null;
  /** Absent where the day has no row or no known result. */
  result: number | null;
}

/** A month as weeks from Monday to Sunday; `month` is `YYYY-MM`. */
export function calendarOf(days: readonly ValueHistoryVO[], month: string): CalendarDay[][] {
  const results = new Map(days.map((row) => [row.date, row.result]));
  const first = Date.parse(`${month}-01T00:00:00Z`);
  const since = (new Date(first).getUTCDay() + WEEK_DAYS - 1) % WEEK_DAYS;
  const weeks: CalendarDay[][] = [];
  for (let start = first - since * DAY_MS; dateOf(start) < `${month}-99`; start += WEEK_DAYS * DAY_MS) {
    weeks.push(
      Array.from({ length: WEEK_DAYS }, (_, place) => {
        const date = dateOf(start + place * DAY_MS);
        if (!date.startsWith(month)) return { day: null, result: null };
        return { day: Number(date.slice(-2)), result: results.get(date) ?? null };
      }),
    );
  }
  return weeks;
}

/** The sum of the known results; absent where there is none. */
export function sumOf(days: readonly ValueHistoryVO[], month: string): number | null {
  const known = days.filter((row) => row.date.startsWith(month)).flatMap((row) => (row.result === null ? [] : [row.result]));
  return known.length === 0 ? null : known.reduce((sum, result) => sum + result, 0);
}

/** The months that have days, oldest first. */
export function monthsOf(days: readonly ValueHistoryVO[]): string[] {
  return [...new Set(days.map((row) => row.date.slice(0, 7)))].sort();
}

/** The short names of the days of a week, from Monday on. */
export function weekDays(locale: string): string[] {
  const format = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
  // 1970-01-05 was a Monday.
  return Array.from({ length: WEEK_DAYS }, (_, place) => format.format((4 + place) * DAY_MS));
}

export function monthName(month: string, locale: string): string {
  const format = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(Date.parse(`${month}-01T00:00:00Z`));
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
