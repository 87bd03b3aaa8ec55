import { expect, test } from 'vitest';
import { candleOf, fillMarks, orderLines, redrawOf } from '../../src/features/chart/series';
import type { Fill } from '../../src/state/api';
import type { Bar, OrderVO } from '../../src/wire/types';

function bar(minute: number, close = 10): Bar {
  const prices = { open: 10, high: 11, low: 9, close };
  return {
    objectType: 'Bar',
    securityId: 1,
    feed: 'F',
    dateTime: minute * 60_000,
    barSize: 'MIN_1',
    ...prices,
    vol: 5,
    vwap: null,
  };
}

test('a bar becomes a candle at the second at which it begins', () => {
  expect(candleOf(bar(2, 10.5))).toEqual({ time: 120, open: 10, high: 11, low: 9, close: 10.5 });
});

test('a tick redraws the last bar only', () => {
  const before = [bar(1), bar(2)];
  const grown = bar(2, 10.7);
  expect(redrawOf(before, [bar(1), grown])).toEqual({ last: [grown] });
});

test('a new bar is added behind the last, which may have changed once more', () => {
  expect(redrawOf([bar(1), bar(2)], [bar(1), bar(2, 9), bar(3)])).toEqual({ last: [bar(2, 9), bar(3)] });
});

test('another security, a filled gap or a moved window is drawn whole', () => {
  const all = (now: Bar[]) => expect(redrawOf([bar(1), bar(3)], now)).toEqual({ all: now });
  all([bar(1), bar(2), bar(3)]);
  all([bar(2), bar(3), bar(4)]);
  all([]);
  expect(redrawOf([], [bar(1)])).toEqual({ all: [bar(1)] });
});

test('an open order has a line for each of its prices', () => {
  const order = { intId: 'A-1', securityId: 1, side: 'SELL', remainingQuantity: 5, limit: 9.5, stop: 10 } as OrderVO;
  expect(orderLines([order, { ...order, securityId: 2 }], 1)).toEqual([
    { intId: 'A-1', side: 'SELL', quantity: 5, price: 9.5, isStop: false },
    { intId: 'A-1', side: 'SELL', quantity: 5, price: 10, isStop: true },
  ]);
});

test('a fill stands at the bar in which it happened', () => {
  const fill = (minute: number) => ({ securityId: 1, side: 'BUY', dateTime: minute * 60_000 + 5, quantity: 1 }) as Fill;
  const marks = fillMarks([fill(3), fill(1), fill(0)], 1, [bar(1), bar(2), bar(3)], () => 'x');
  expect(marks).toEqual([
    { time: 60, side: 'BUY', text: 'x' },
    { time: 180, side: 'BUY', text: 'x' },
  ]);
});
