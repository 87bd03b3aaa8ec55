/** Order blotter: open and done orders, and their changes while the screen is open. */

import { order as orderDecoder } from '../wire/decoders';
import { type OrderQuery, PAST_ROWS, type Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { OrderStatus, OrderStatusVO, OrderVO, TransactionVO } from '../wire/types';
import type { Fill, Freshness, Orders, Readable, Table } from './api';
import { Join, type JoinTools, RETRY_AFTER_MS } from './join';
import { HistoryReader, SelectedHistory } from './history';
import { derive } from './readable';
import { Rows, View } from './table';

/** The newest of all strategies and those of the selected one; older ones are dropped here and stay on the server. */
export const ORDERS_MAX = 2 * PAST_ROWS;
/** Orders are dropped this many at a time, because each time goes through all of them. */
export const FORGOTTEN_AT_ONCE = 500;

const ANY_ORDER: OrderQuery = { text: '', strategyId: null, accountId: null, status: null, from: null, to: null, withoutStrategies: false };

const DONE: ReadonlySet<OrderStatus> = new Set<OrderStatus>(['EXECUTED', 'CANCELED', 'REJECTED']);

export function isOpen(order: OrderVO): boolean {
  return !DONE.has(order.status);
}

/** A change of an order that may raise a notice. */
export interface OrderNews {
  order: OrderVO;
  /** What was filled since the order was last seen. */
  filled: number;
  isRejected: boolean;
}

export interface OrdersTools extends JoinTools {
  server: Pick<Server, 'openOrders' | 'pastOrders' | 'searchOrders' | 'orderEvents'>;
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
  private readonly selectedHistory: SelectedHistory<OrderVO>;
  private readonly reader: HistoryReader;
  private readonly isOfStrategy: Readable<(order: OrderVO) => boolean>;
  /** Before the first snapshot of open orders and the history, no change raises a notice. */
  private isKnown = false;
  /** Counts the snapshots and the lost connections; a reply to an earlier request is ignored. */
  private round = 0;
  /** Orders that were open and are no longer: their final state is in the history. */
  private undecided = new Set<string>();

  constructor(private readonly tools: OrdersTools) {
    this.all = new Rows(tools.clock, (order) => order.intId);
    this.isOfStrategy = ofStrategy<OrderVO>(tools.strategy);
    const isOpenOfStrategy = derive([this.isOfStrategy], (test) => (order: OrderVO) => isOpen(order) && test(order));
    this.open = new View(this.all, isOpenOfStrategy);
    this.history = new View(this.all, this.isOfStrategy);
    this.fills = tools.fills;
    const { strategy, server } = tools;
    this.reader = new HistoryReader(tools);
    tools.feed.onLink((isUp) => !isUp && (this.round += 1));
    this.selectedHistory = new SelectedHistory({ ...tools, selected: strategy, read: server.pastOrders, keep: (orders) => void this.keep(orders) });
    this.join = new Join(
      {
        topic: topics.orders,
        decoder: orderDecoder,
        snapshot: tools.server.openOrders,
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

  /** Done orders stay; orders that are no longer open are in doubt until the history is loaded; changes during the disconnect raise notices. */
  private reset(open: readonly OrderVO[]): void {
    this.round += 1;
    const before = new Map(this.all.get().map((order) => [order.intId, order]));
    const isNews = this.isKnown;
    if (isNews) for (const order of open) this.compare(order, before.get(order.intId));
    for (const { intId } of open) before.delete(intId);
    const left = [...before.values()].map((order) => (isOpen(order) ? { ...order, inDoubt: true } : order));
    this.undecided = new Set(left.filter(isOpen).map(({ intId }) => intId));
    this.all.reset([...left, ...open]);
    this.reader.load((isWanted) => this.tools.server.pastOrders(null, isWanted), (past) => this.applyHistory(past, isNews));
  }

  /** The history takes longer, so it comes after the open orders; orders that are known by then are newer. */
  private applyHistory(past: readonly OrderVO[], isNews: boolean): void {
    const before = new Map([...this.undecided].map((intId) => [intId, this.all.row(intId)]));
    const unknown = this.keep(past);
    if (isNews) for (const order of unknown) this.compare(order, before.get(order.intId));
    this.isKnown = true;
    this.selectedHistory.onSnapshot();
    void this.settle(isNews);
  }

  /** Orders that are older than the loaded history stay in doubt until the server has sent them, one after the other. */
  private async settle(isNews: boolean): Promise<void> {
    const { round } = this;
    for (const intId of [...this.undecided]) {
      const found = await this.find(intId).catch(() => null);
      if (round !== this.round || !this.undecided.has(intId)) return;
      if (found === null) return void this.tools.clock.after(RETRY_AFTER_MS, () => round === this.round && void this.settle(isNews));
      this.decide(intId, found, isNews);
    }
  }

  /** Searches all orders of the server; `undefined` where it has none, `null` where it is not decided yet. */
  private async find(intId: string): Promise<OrderVO | undefined | null> {
    const { value } = await this.tools.server.searchOrders({ ...ANY_ORDER, text: intId }, null);
    const found = value.find((order) => order.intId === intId);
    return found !== undefined && isOpen(found) ? null : found;
  }

  private decide(intId: string, found: OrderVO | undefined, isNews: boolean): void {
    this.undecided.delete(intId);
    if (found === undefined) return this.all.remove(intId);
    if (isNews) this.compare(found, this.all.row(intId));
    this.all.upsert(found);
  }

  /** Gives the orders that were not known. */
  private keep(past: readonly OrderVO[]): OrderVO[] {
    const isUnknown = ({ intId }: OrderVO) => !this.all.row(intId) || this.undecided.delete(intId);
    const unknown = past.filter((order) => !isOpen(order) && isUnknown(order));
    for (const order of unknown) this.all.upsert(order);
    this.forgetOldest();
    return unknown;
  }

  private apply(order: OrderVO): void {
    this.compare(order, this.all.row(order.intId));
    this.undecided.delete(order.intId);
    this.all.upsert(order);
    this.forgetOldest();
  }

  private compare(order: OrderVO, before: OrderVO | undefined): void {
    const filled = order.filledQuantity - (before?.filledQuantity ?? 0);
    const isRejected = order.status === 'REJECTED' && before?.status !== 'REJECTED';
    if (filled > 0 || isRejected) this.tools.onNews({ order, filled, isRejected });
  }

  /** Orders of strategies that are not selected are dropped first. */
  private forgetOldest(): void {
    if (this.all.size() <= ORDERS_MAX + FORGOTTEN_AT_ONCE) return;
    const isLookedAt = this.isOfStrategy.get();
    const done = this.all.get().filter((order) => !isOpen(order));
    const forgotten = leastFirst(done, (order) => Number(isLookedAt(order))).slice(0, this.all.size() - ORDERS_MAX);
    for (const order of forgotten) this.all.remove(order.intId);
  }
}

/** The rows of the least worth first, and of these the oldest. */
export function leastFirst<T extends { id: number }>(rows: readonly T[], worth: (row: T) => number): T[] {
  return [...rows].sort((one, other) => worth(one) - worth(other) || one.id - other.id);
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
