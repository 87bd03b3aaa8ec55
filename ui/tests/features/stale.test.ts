/** Stale values: a value without current messages must not look live. */

import { expect, test } from 'vitest';
import { marketColumns, type QuoteSource } from '../../src/features/market/columns';
import { orderColumns } from '../../src/features/common/orderColumns';
import { openOrderColumns } from '../../src/features/orders/columns';
import { positionColumns } from '../../src/features/positions/columns';
import type { GridColumn } from '../../src/parts/grid/types';
import type { Quote, Reference } from '../../src/state/api';
import { ENGLISH } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';
import type { OrderVO, PositionVO, SecurityVO } from '../../src/wire/types';
import { tick } from '../state/samples';

const texts = ENGLISH;
const formats = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const AAPL = { id: 1, symbol: 'AAPL' } as SecurityVO;
const QUOTE: Quote = { securityId: 1, tick: tick(), receivedAt: 0, last: 272, change: 1, changePercent: 0.01, spark: [] };
const LONG = { securityId: 1, quantity: 10, unrealizedPL: 5, realizedPL: -2, marketPrice: 272, marketValue: 2_720 } as PositionVO;

/** The part of an element that a painted cell needs. */
class Cell {
  textContent = '';
  className = '';
  readonly dataset: Record<string, string> = {};
  private readonly marks = new Set<string>();
  readonly classList = {
    contains: (mark: string) => this.marks.has(mark),
    toggle: (mark: string, isOn: boolean) => void (isOn ? this.marks.add(mark) : this.marks.delete(mark)),
  };
}

function painted<Row>(columns: GridColumn<Row>[], id: string, row: Row): string {
  const cell = new Cell();
  columns.find((column) => column.id === id)?.paint?.(cell as unknown as HTMLElement, row);
  return `${cell.textContent}${cell.classList.contains('stale') ? ' stale' : ''}`;
}

test('sizes and changes of a stale quote fade with its prices', () => {
  const shown = (isStale: boolean) => {
    const source = { quote: () => QUOTE, isStale: () => isStale, digits: () => 2 } as unknown as QuoteSource;
    const columns = marketColumns(source, texts, formats, { remove: () => undefined });
    return ['bidSize', 'askSize', 'changePercent', 'change', 'volume'].map((id) => painted(columns, id, AAPL));
  };
  expect(shown(false)).toEqual(['10', '10', '+1.00%', '+1.00', '100']);
  expect(shown(true)).toEqual(['10 stale', '10 stale', '+1.00% stale', '+1.00 stale', '100 stale']);
});

test('a stale price shows its age in place of its trend', () => {
  const label = (isStale: boolean) => {
    const quotes = { quote: () => QUOTE, isStale: () => isStale, ageOf: () => 95_000 } as unknown as QuoteSource;
    const cell = { ariaLabel: null, role: null, title: '' };
    const spark = marketColumns(quotes, texts, formats, { remove: () => undefined }).find(({ id }) => id === 'spark');
    spark?.paint?.(cell as unknown as HTMLElement, AAPL);
    return [cell.ariaLabel, cell.title];
  };
  expect([label(false), label(true)]).toEqual([['Recent prices of AAPL', ''], ['stale ! 1 min', 'stale']]);
});

const REFERENCE = { priceDigits: () => 2, securities: { get: () => [] } } as unknown as Reference;

test('values and profit of a position fade while no messages arrive', () => {
  const shown = (isLive: boolean) => {
    const columns = positionColumns(REFERENCE, texts, formats, isLive, () => false);
    return ['unrealized', 'marketPrice', 'marketValue', 'realized'].map((id) => painted(columns, id, LONG));
  };
  expect(shown(true)).toEqual(['+5.00', '272.00', '2,720.00', '-2.00']);
  expect(shown(false)).toEqual(['+5.00 stale', '272.00 stale', '2,720.00 stale', '-2.00 stale']);
});

test('a position fades with the price of its own security, unless it is closed', () => {
  const columns = positionColumns(REFERENCE, texts, formats, true, (securityId) => securityId === 1);
  const shown = (position: PositionVO) => ['marketPrice', 'marketValue', 'quantity'].map((id) => painted(columns, id, position));
  expect(shown(LONG)).toEqual(['272.00 stale', '2,720.00 stale', '']);
  expect(shown({ ...LONG, securityId: 2 })).toEqual(['272.00', '2,720.00', '']);
  expect(shown({ ...LONG, quantity: 0 })).toEqual(['272.00', '2,720.00', '']);
});

test('an open order without current reports does not look live', () => {
  const order = { securityId: 1, status: 'SUBMITTED', filledQuantity: 3, remainingQuantity: 7, avgPrice: null, limit: 250 } as OrderVO;
  const shown = (isLive: boolean) => {
    const all = orderColumns(REFERENCE, texts, formats);
    const columns = openOrderColumns(all, isLive);
    return ['status', 'filled', 'remaining', 'limit'].map((id) => painted(columns, id, order));
  };
  expect(shown(true)).toEqual(['● Working', '3', '7', '']);
  expect(shown(false)).toEqual(['● Working stale', '3 stale', '7 stale', '']);
});
