/** Fills by order, since the screen was opened: they give a fill notice its price. */

import type { OrderVO } from '../wire/types';
import type { Fill } from './api';

/** Most orders whose fills are kept; older orders get no further notice. */
const ORDERS_MAX = 200;
/** A difference of quantities below this is rounding noise. */
const NOISE = 1e-9;

interface Booked {
  quantity: number;
  worth: number;
  prices: Set<number>;
  last: Fill;
}

export interface FillSummary {
  price: number | null;
  /** The price is that of several fills. */
  isAverage: boolean;
  /** The newest fill, where there were several. */
  last: Fill | null;
}

export class OrderFills {
  private readonly booked = new Map<string, Booked>();
  private readonly notified = new Map<string, OrderVO>();

  /** Gives the order of the notice, where one was raised. */
  book(fill: Fill): OrderVO | undefined {
    const { orderIntId: intId, quantity, price } = fill;
    if (intId === null) return undefined;
    const before = this.booked.get(intId) ?? { quantity: 0, worth: 0, prices: new Set<number>(), last: fill };
    const now = { quantity: before.quantity + quantity, worth: before.worth + quantity * price, prices: before.prices.add(price), last: fill };
    remember(this.booked, intId, now);
    return this.notified.get(intId);
  }

  setNotified(order: OrderVO): void {
    remember(this.notified, order.intId, order);
  }

  /** Uses the booked fills where all are known, and the order's average price otherwise. */
  summary({ intId, filledQuantity, avgPrice }: OrderVO): FillSummary {
    const booked = this.booked.get(intId);
    if (booked === undefined) return { price: avgPrice, isAverage: true, last: null };
    const isWhole = Math.abs(booked.quantity - filledQuantity) < NOISE;
    const isOne = isWhole && booked.prices.size === 1;
    return {
      price: isWhole ? booked.worth / booked.quantity : avgPrice,
      isAverage: !isOne,
      last: isOne ? null : booked.last,
    };
  }

  clear(): void {
    this.booked.clear();
    this.notified.clear();
  }
}

/** Drops the oldest entry where there are too many. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > ORDERS_MAX && oldest !== undefined) map.delete(oldest);
}
