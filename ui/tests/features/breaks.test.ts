/** A break on the screen: its sides field by field, what it is about, what happened to it. */

import { expect, test } from 'vitest';
import { breakColumns, subjectOf } from '../../src/features/breaks/columns';
import { comparedFields } from '../../src/features/breaks/sides';
import { actsIn, historyOf } from '../../src/features/breaks/steps';
import { ENGLISH } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';
import { found } from '../state/samples';

const formats = formatsOf({ locale: 'de-DE', timeZone: 'UTC' });

/** `price: 1.50 | 1.5`, with a mark where the sides differ. */
function compared(ours: Record<string, string> | null, theirs: Record<string, string> | null): string[] {
  return comparedFields({ ours, theirs }).map((field) => `${field.name}: ${field.ours} | ${field.theirs}${field.differs ? ' ≠' : ''}`);
}

test('fields that differ are marked, and an amount may be written in two ways', () => {
  expect(compared({ quantity: '100', price: '1.50', status: 'NEW' }, { price: '1.5', quantity: '90', status: 'NEW', tif: 'DAY' })).toEqual([
    'quantity: 100 | 90 ≠',
    'price: 1.50 | 1.5',
    'status: NEW | NEW',
    'tif: null | DAY ≠',
  ]);
});

test('amounts that no number can hold differ in their last digit', () => {
  expect(compared({ total: '1000000000.000000000000000001' }, { total: '1000000000.000000000000000002' })).toEqual([
    'total: 1000000000.000000000000000001 | 1000000000.000000000000000002 ≠',
  ]);
  expect(formats.exact('1000000000.000000000000000001')).toBe('1.000.000.000,000000000000000001');
  expect(['100', '10', 'X-007', ''].map((text) => formats.exact(text))).toEqual(['100', '10', 'X-007', '']);
});

test('trailing zeros of a whole number count', () => {
  expect(compared({ quantity: '100' }, { quantity: '10' })).toEqual(['quantity: 100 | 10 ≠']);
});

test('a side that has nothing differs as a whole, not field by field', () => {
  expect(compared({ quantity: '100' }, null)).toEqual(['quantity: 100 | null']);
  expect(compared(null, { quantity: '100' })).toEqual(['quantity: null | 100']);
});

test('the list says what a break is about, and what it is worth', () => {
  const row = found({ security: 'AAPL', intOrderId: 'A-17', difference: '-1234.5', currency: 'USD', value: '1234.5' });
  const text = (id: string) => breakColumns(ENGLISH, formats).find((column) => column.id === id);
  expect([subjectOf(row), text('difference')?.text?.(row), text('value')?.text?.(row)]).toEqual(['AAPL A-17', '-1.234,5 USD', '1.234,50']);
  expect(subjectOf(found({ extOrderId: 'X-9' }))).toBe('X-9');
  expect(subjectOf(found({ currency: 'USDT' }))).toBe('USDT');
});

test('its history tells who settled it, and when both sides agree again by themselves', () => {
  const steps = (change: Parameters<typeof found>[0]) =>
    historyOf(found(change)).map(({ at, state, by, comment }) => [new Date(at).toISOString(), state, by, comment]);
  expect(steps({})).toEqual([['2026-11-16T08:39:12.000Z', null, null, null]]);
  expect(steps({ state: 'ACCEPTED', changedBy: 'anna', changedAt: '2026-11-16T08:45:00Z', comment: 'a fee' })).toEqual([
    ['2026-11-16T08:39:12.000Z', null, null, null],
    ['2026-11-16T08:45:00.000Z', 'ACCEPTED', 'anna', 'a fee'],
  ]);
});

test('a break that is explained may still be accepted or repaired', () => {
  expect((['OPEN', 'EXPLAINED', 'REPAIRED', 'ACCEPTED'] as const).map((state) => actsIn(state).join())).toEqual([
    'explain,accept,repair',
    'accept,repair',
    '',
    '',
  ]);
});
