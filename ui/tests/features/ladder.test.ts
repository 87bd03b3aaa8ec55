import { expect, test } from 'vitest';
import { ladderOf } from '../../src/features/book/ladder';
import type { OrderBook, OrderVO } from '../../src/wire/types';

const BOOK: OrderBook = {
  objectType: 'OrderBook',
  securityId: 1,
  feed: 'SIMULATED',
  dateTime: 0,
  bids: [
    { price: 10.5, quantity: 300 },
    { price: 10.4, quantity: 1200 },
  ],
  asks: [
    { price: 10.7, quantity: 600 },
    { price: 10.8, quantity: 100 },
  ],
};

function order(change: Partial<OrderVO>): OrderVO {
  return {
    objectType: 'LimitOrder',
    securityId: 1,
    side: 'BUY',
    limit: 10.4,
    remainingQuantity: 50,
    filledQuantity: 0,
    ...change,
  } as OrderVO;
}

test('asks stand above the bids, the best next to each other', () => {
  const { asks, bids, spread } = ladderOf(BOOK, [], 10);
  expect([...asks, ...bids].map((row) => [row.side, row.price, row.share])).toEqual([
    ['SELL', 10.8, 100 / 1200],
    ['SELL', 10.7, 0.5],
    ['BUY', 10.5, 0.25],
    ['BUY', 10.4, 1],
  ]);
  expect(spread).toBeCloseTo(0.2);
});

test('only so many levels as there is room for, the best ones', () => {
  const { asks, bids } = ladderOf(BOOK, [], 1);
  expect([asks, bids].map((rows) => rows.map((row) => row.price))).toEqual([[10.7], [10.5]]);
});

test('our own orders stand beside their price', () => {
  const orders = [
    order({}),
    order({ remainingQuantity: 25 }),
    order({ side: 'SELL', limit: 10.7 }),
    order({ securityId: 2 }),
    order({ objectType: 'StopLimitOrder', stop: 9 }),
  ];
  const { asks, bids } = ladderOf(BOOK, orders, 10);
  expect([...asks, ...bids].map((row) => row.mine)).toEqual([0, 50, 0, 75]);
});

test('an empty side has no spread', () => {
  expect(ladderOf({ ...BOOK, asks: [] }, [], 10)).toMatchObject({ asks: [], spread: null });
});
