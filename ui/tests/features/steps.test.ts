import { expect, test } from 'vitest';
import { stepsDone } from '../../src/features/ticket/steps';
import type { OrderVO, PositionVO } from '../../src/wire/types';

const order = (change: Partial<OrderVO>) => ({ source: 'UI', side: 'BUY', securityId: 1, strategyId: 1, filledQuantity: 0, ...change }) as OrderVO;
const position = (quantity: number) => ({ securityId: 1, strategyId: 1, quantity }) as PositionVO;

test('the first steps are made one by one, and only from the screen', () => {
  const done = (orders: OrderVO[], positions: PositionVO[]) => Object.values(stepsDone(orders, positions));
  expect(done([order({ source: 'STRATEGY', filledQuantity: 1 })], [position(0)])).toEqual([false, false, false]);
  expect(done([order({})], [])).toEqual([true, false, false]);
  expect(done([order({ filledQuantity: 5 })], [position(5)])).toEqual([true, true, false]);
  expect(done([order({ filledQuantity: 5 })], [position(0)])).toEqual([true, true, true]);
});
