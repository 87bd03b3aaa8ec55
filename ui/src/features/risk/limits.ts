/** Limits of a scope as a form: one line per limit, empty where there is none. */

import { amountLimits, countLimits } from '../../state/risk';
import type { Formats } from '../../texts/formats';
import type { CountWithin, LimitsVO } from '../../wire/types';
import { amountOf, typed } from '../common/amount';

export type AmountName = keyof typeof amountLimits;
export type CountName = keyof typeof countLimits;
export type LimitName = AmountName | CountName;
export type LimitLines = Record<LimitName, string>;

export const AMOUNTS = Object.keys(amountLimits) as AmountName[];
export const COUNTS = Object.keys(countLimits) as CountName[];

/** In the order of the form. */
export const LINES: readonly LimitName[] = [...AMOUNTS, ...COUNTS];

type Locale = Pick<Formats, 'price'>;

/** A count within a time is written as in the configuration: `100 in 10000`. */
export function linesOf(limits: LimitsVO, formats: Locale): LimitLines {
  const amounts = AMOUNTS.map((name) => [name, typed(limits[name], formats)]);
  const counts = COUNTS.map((name) => [name, countText(limits[name])]);
  return Object.fromEntries([...amounts, ...counts]) as LimitLines;
}

export function countText(limit: CountWithin | null): string {
  return limit === null ? '' : `${limit.count} in ${limit.millis}`;
}

/** The limits that the lines describe, or every line that can't be read. */
export function limitsOf(before: LimitsVO, lines: LimitLines, formats: Locale): LimitsVO | { unreadable: LimitName[] } {
  const amounts = AMOUNTS.map((name) => [name, readAmount(lines[name], formats)] as const);
  const counts = COUNTS.map((name) => [name, readCount(lines[name])] as const);
  const read = [...amounts, ...counts];
  const unreadable = read.filter(([, value]) => value === undefined).map(([name]) => name);
  return unreadable.length > 0 ? { unreadable } : { ...before, ...Object.fromEntries(read) };
}

function readAmount(line: string, formats: Locale): number | null | undefined {
  if (line.trim() === '') return null;
  const amount = amountOf(line, formats);
  return typeof amount === 'number' ? amount : undefined;
}

function readCount(line: string): CountWithin | null | undefined {
  if (line.trim() === '') return null;
  const found = /^\s*(\d+)\s+in\s+(\d+)(?:\s*ms)?\s*$/.exec(line);
  return found ? { count: Number(found[1]), millis: Number(found[2]) } : undefined;
}
