/** The range of the newest day among some bars. */

import type { Bar } from '../../wire/types';

export interface DayRange {
  low: number;
  high: number;
}

const DAY_MS = 86_400_000;

export function dayRange(bars: readonly Bar[]): DayRange | null {
  const day = Math.floor((bars.at(-1)?.dateTime ?? 0) / DAY_MS);
  const today = bars.filter(({ dateTime }) => Math.floor(dateTime / DAY_MS) === day);
  if (today.length === 0) return null;
  return { low: Math.min(...today.map(({ low }) => low)), high: Math.max(...today.map(({ high }) => high)) };
}
