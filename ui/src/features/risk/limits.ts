/** Limits of a scope as a form: one line per limit, empty where there is none. */

import type { CountWithin, LimitsVO } from '../../wire/types';

export const AMOUNTS = [
  'maxOrderQuantity',
  'maxOrderNotional',
  'priceCollarPercent',
  'staleAfterSeconds',
  'maxOpenOrders',
  'maxOpenNotional',
  'maxLong',
  'maxShort',
  'maxGrossExposure',
  'ordersPerSecond',
  'maxDayLoss',
  'maxDrawdown',
] as const;

export const COUNTS = ['duplicateGuard', 'rejectBreaker'] as const;

export type AmountName = (typeof AMOUNTS)[number];
export type CountName = (typeof COUNTS)[number];
export type LimitLines = Record<AmountName, string> & Record<CountName, string>;

/** A count within a time is written as in the configuration: `100 in 10000`. */
export function linesOf(limits: LimitsVO): LimitLines {
  const amounts = AMOUNTS.map((name) => [name, limits[name] === null ? '' : String(limits[name])]);
  const counts = COUNTS.map((name) => [name, countText(limits[name])]);
  return Object.fromEntries([...amounts, ...counts]) as LimitLines;
}

export function countText(limit: CountWithin | null): string {
  return limit === null ? '' : `${limit.count} in ${limit.millis}`;
}

export interface LimitProblem {
  name: AmountName | CountName;
}

/** The limits that the lines describe, or the first line that can't be read. */
export function limitsOf(before: LimitsVO, lines: LimitLines): LimitsVO | LimitProblem {
  const limits: LimitsVO = { ...before };
  for (const name of AMOUNTS) {
    const amount = readAmount(lines[name]);
    if (amount === undefined) return { name };
    limits[name] = amount;
  }
  for (const name of COUNTS) {
    const count = readCount(lines[name]);
    if (count === undefined) return { name };
    limits[name] = count;
  }
  return limits;
}

function readAmount(line: string): number | null | undefined {
  if (line.trim() === '') return null;
  const amount = Number(line);
  return Number.isFinite(amount) ? amount : undefined;
}

function readCount(line: string): CountWithin | null | undefined {
  if (line.trim() === '') return null;
  const found = /^\s*(\d+)\s+in\s+(\d+)(?:\s*ms)?\s*$/.exec(line);
  return found ? { count: Number(found[1]), millis: Number(found[2]) } : undefined;
}
