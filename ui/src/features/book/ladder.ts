/** Rows of the ladder: asks from far to near, then bids from near to far, with own orders beside them. */

import type { BookLevel, OrderBook, OrderVO, Side } from '../../wire/types';

export interface LadderRow {
  side: Side;
  price: number;
  quantity: number;
  /** Part of the largest level in sight, 0 to 1. */
  share: number;
  /** Remaining quantity of own orders at this price. */
  mine: number;
}

export interface Ladder {
  asks: readonly LadderRow[];
  bids: readonly LadderRow[];
  spread: number | null;
}

export function ladderOf(book: OrderBook, orders: readonly OrderVO[], levels: number): Ladder {
  const bids = book.bids.slice(0, levels);
  const asks = book.asks.slice(0, levels);
  const largest = Math.max(0, ...[...bids, ...asks].map((level) => level.quantity));
  const mine = ownByPrice(orders, book.securityId);
  const row = (side: Side) => (level: BookLevel): LadderRow => ({
    side,
    price: level.price,
    quantity: level.quantity,
    share: largest === 0 ? 0 : level.quantity / largest,
    mine: mine.get(keyOf(side, level.price)) ?? 0,
  });
  return { asks: asks.map(row('SELL')).reverse(), bids: bids.map(row('BUY')), spread: spreadOf(book) };
}

function ownByPrice(orders: readonly OrderVO[], securityId: number): ReadonlyMap<string, number> {
  const mine = new Map<string, number>();
  for (const order of orders) {
    if (order.securityId !== securityId || order.limit === undefined || isWaitingForItsStop(order)) continue;
    const key = keyOf(order.side, order.limit);
    mine.set(key, (mine.get(key) ?? 0) + order.remainingQuantity);
  }
  return mine;
}

/** An order with a stop is in the book only after its stop was triggered, which is unknown until its first fill. */
function isWaitingForItsStop(order: OrderVO): boolean {
  return order.stop !== undefined && order.filledQuantity === 0;
}

function spreadOf(book: OrderBook): number | null {
  const [bid] = book.bids;
  const [ask] = book.asks;
  return bid === undefined || ask === undefined ? null : ask.price - bid.price;
}

function keyOf(side: Side, price: number): string {
  return `${side} ${price}`;
}
