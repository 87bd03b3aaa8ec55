/** Orders, open and done, and what changed about them while somebody was looking. */

import { order as orderDecoder } from '../wire/decoders';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { OrderStatus, OrderStatusVO, OrderVO, TransactionVO } from '../wire/types';
import type { Fill, Freshness, Orders, Readable, Table } from './api';
import { Join, type JoinTools } from './join';
import { SelectedPast } from './past';
import { derive } from './readable';
import { Rows, View } from './table';

/** Beyond this many the oldest finished orders are forgotten; the server still has them. */
export const ORDERS_MAX = 5_000;

const DONE: ReadonlySet<OrderStatus> = new Set<OrderStatus>(['EXECUTED', 'CANCELED', 'REJECTED']);

export function isOpen(order: OrderVO): boolean {
  return !DONE.has(order.status);
}

/** What somebody may want to hear of. */
export interface OrderNews {
  order: OrderVO;
  /** What was filled since the order was last seen. */
  filled: number;
  isRejected: boolean;
}

export interface OrdersTools extends JoinTools {
  server: Pick<Server, 'openOrders' | 'pastOrders' | 'orderEvents'>;
  strategy: Readable<number | null>;
  fills: Table<number, Fill>;
  onNews(news: OrderNews): void;
}

export class OrderBlotter implements Orders {
  readonly open: Table<string, OrderVO>;
  readonly history: Table<string, OrderVO>;
  readonly fills: Table<number, Fill>;
  /** Of all strategies. */
  readonly all: Rows<string, OrderVO>;
  private readonly join: Join<OrderVO[], OrderVO>;
  private readonly past: SelectedPast<OrderVO>;
  private readonly isOfStrategy: Readable<(order: OrderVO) => boolean>;
  /** Before the first picture nothing is news. */
  private isKnown = false;

  constructor(private readonly tools: OrdersTools) {
    this.all = new Rows(tools.clock, (order) => order.intId);
    this.isOfStrategy = ofStrategy<OrderVO>(tools.strategy);
    const isOpenOfStrategy = derive([this.isOfStrategy], (test) => (order: OrderVO) => isOpen(order) && test(order));
    this.open = new View(this.all, isOpenOfStrategy);
    this.history = new View(this.all, this.isOfStrategy);
    this.fills = tools.fills;
    const { strategy, server, onTrouble } = tools;
    this.past = new SelectedPast({ selected: strategy, read: server.pastOrders, keep: (orders) => void this.keep(orders), onTrouble });
    this.join = new Join(
      {
        topic: topics.orders,
        decoder: orderDecoder,
        picture: tools.server.openOrders,
        reset: (orders) => this.reset(orders),
        apply: (order) => this.apply(order),
      },
      tools,
    );
  }

  get freshness(): Readable<Freshness> {
    return this.join.freshness;
  }

  events(intId: string): Promise<OrderStatusVO[]> {
    return this.tools.server.orderEvents(intId);
  }

  /** What is done stays as it was; what happened while we were away is news. */
  private reset(open: readonly OrderVO[]): void {
    const before = new Map(this.all.get().map((order) => [order.intId, order]));
    const done = [...before.values()].filter((order) => !isOpen(order));
    const isNews = this.isKnown;
    if (isNews) for (const order of open) this.compare(order, before.get(order.intId));
    this.isKnown = true;
    this.all.reset([...done, ...open]);
    this.recall(before, isNews).catch(this.tools.onTrouble);
  }

  /** The past takes longer to find, so it comes after what is open; whatever is known by then is newer. */
  private async recall(before: ReadonlyMap<string, OrderVO>, isNews: boolean): Promise<void> {
    const { value } = await this.tools.server.pastOrders();
    const unknown = this.keep(value);
    if (isNews) for (const order of unknown) this.compare(order, before.get(order.intId));
    this.past.pictured();
  }

  /** Gives those that were not known. */
  private keep(past: readonly OrderVO[]): OrderVO[] {
    const unknown = past.filter((order) => !isOpen(order) && !this.all.row(order.intId));
    for (const order of unknown) this.all.put(order);
    this.forgetOldest();
    return unknown;
  }

  private apply(order: OrderVO): void {
    this.compare(order, this.all.row(order.intId));
    this.all.put(order);
    this.forgetOldest();
  }

  private compare(order: OrderVO, before: OrderVO | undefined): void {
    const filled = order.filledQuantity - (before?.filledQuantity ?? 0);
    const isRejected = order.status === 'REJECTED' && before?.status !== 'REJECTED';
    if (filled > 0 || isRejected) this.tools.onNews({ order, filled, isRejected });
  }

  /** Those of strategies that nobody looks at go first. */
  private forgetOldest(): void {
    const excess = this.all.size() - ORDERS_MAX;
    if (excess <= 0) return;
    const isLookedAt = this.isOfStrategy.get();
    const done = this.all.get().filter((order) => !isOpen(order));
    const [seen, unseen] = [done.filter(isLookedAt), done.filter((order) => !isLookedAt(order))];
    for (const order of [...unseen, ...seen].slice(0, excess)) this.all.remove(order.intId);
  }
}

/** Which rows the strategy selector lets through. */
export function ofStrategy<T extends { strategyId: number }>(
  strategy: Readable<number | null>,
): Readable<(row: T) => boolean> {
  return derive([strategy], (wanted) => (row: T) => wanted === null || row.strategyId === wanted);
}

export function fillOf(booked: TransactionVO): Fill | null {
  const { id, intOrderId, dateTime, type, quantity, price, securityId, strategyId } = booked;
  if ((type !== 'BUY' && type !== 'SELL') || securityId === null) return null;
  const side = type;
  return { id, orderIntId: intOrderId, dateTime, side, quantity: Math.abs(quantity), price, securityId, strategyId };
}
