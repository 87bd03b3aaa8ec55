/** External orders: marked in the lists, and nobody orders in their name. */

import { expect, test } from 'vitest';
import { isExternal, isReserved } from '../../src/features/common/external';
import { orderColumns } from '../../src/features/common/orderColumns';
import type { Reference } from '../../src/state/api';
import { ENGLISH } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';
import { order } from '../state/samples';

const EXTERNAL = 999_999_999_999_999;
const NAMES: Record<number, string> = { 1: 'SERVER', [EXTERNAL]: 'EXTERNAL' };
const REFERENCE = {
  strategyName: (id: number) => NAMES[id] ?? '',
  symbol: () => 'AAPL',
  securities: { get: () => [], row: () => undefined },
} as unknown as Reference;

test('an order of the strategy EXTERNAL was not placed here', () => {
  expect([1, EXTERNAL].map((strategyId) => isExternal({ strategyId }))).toEqual([false, true]);
  expect(Object.values(NAMES).map((name) => isReserved({ name }))).toEqual([false, true]);
});

/** The part of an element that the cell of a strategy needs. */
function painted(strategyId: number): [string, boolean, string] {
  const marks = new Set<string>();
  const cell = { textContent: '', title: '', classList: { toggle: (mark: string, isOn: boolean) => void (isOn ? marks.add(mark) : marks.delete(mark)) } };
  const columns = orderColumns(REFERENCE, ENGLISH, formatsOf({ locale: 'en-GB', timeZone: 'UTC' }));
  columns.find(({ id }) => id === 'strategy')?.paint?.(cell as unknown as HTMLElement, order({ strategyId }));
  return [cell.textContent, marks.has('external'), cell.title];
}

test('its strategy is marked and explained', () => {
  expect(painted(1)).toEqual(['SERVER', false, '']);
  expect(painted(EXTERNAL)).toEqual(['EXTERNAL', true, 'External: it was not placed here']);
});
