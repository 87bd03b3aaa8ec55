import { expect, test } from 'vitest';
import { outside, widened } from '../../src/features/chart/scale';
import { candleOf, fillMarks, orderLines, redrawOf, type OrderLine } from '../../src/features/chart/series';
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

const fill = (minute: number, more: Partial<Fill> = {}): Fill =>
  ({ securityId: 1, side: 'BUY', dateTime: minute * 60_000 + 5, quantity: 1, price: 10, ...more }) as Fill;

test('a fill stands at the bar in which it happened', () => {
  const marks = fillMarks([fill(3), fill(1), fill(0), fill(2, { securityId: 2 })], 1, [bar(1), bar(2), bar(3)]);
  expect(marks).toEqual([
    { time: 60, side: 'BUY', quantity: 1, price: 10 },
    { time: 180, side: 'BUY', quantity: 1, price: 10 },
  ]);
});

test('what was bought within one bar is one mark at its average price, and what was sold another', () => {
  const fills = [fill(1), fill(1, { quantity: 3, price: 12 }), fill(1, { side: 'SELL', price: 11 })];
  expect(fillMarks(fills, 1, [bar(1)])).toEqual([
    { time: 60, side: 'BUY', quantity: 4, price: 11.5 },
    { time: 60, side: 'SELL', quantity: 1, price: 11 },
  ]);
});

test('the chart makes room for orders near its candles', () => {
  const candles = { from: 99.5, to: 100 };
  expect(widened(candles, [])).toEqual(candles);
  expect(widened(candles, [99.8, 99.1, 100.4])).toEqual({ from: 99.1, to: 100.4 });
});

test('an order that would flatten the candles, or is a hundredth away, gets no room', () => {
  expect(widened({ from: 99.5, to: 100 }, [98.9, 100.6])).toEqual({ from: 99.5, to: 100 });
  expect(widened({ from: 50, to: 100 }, [48.9, 101.1, 101])).toEqual({ from: 50, to: 101 });
});

test('orders outside of the range are listed at the edge, the nearest first', () => {
  const at = (price: number) => ({ intId: String(price), side: 'BUY', quantity: 1, price, isStop: false }) as OrderLine;
  expect(outside([at(12), at(5), at(10), at(3), at(15)], { from: 9, to: 11 })).toEqual({
    above: [at(12), at(15)],
    below: [at(5), at(3)],
  });
  expect(outside([at(5)], null)).toEqual({ above: [], below: [] });
});
