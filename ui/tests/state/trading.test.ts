/** Order blotter, portfolio store and trading commands, and the notifications of them. */

import { beforeEach, describe, expect, it } from 'vitest';
import { RETRY_AFTER_MS } from '../../src/state/join';
import { FORGOTTEN_AT_ONCE, isOpen, ORDERS_MAX, OrderBlotter, type OrderNews, type OrdersTools } from '../../src/state/orders';
import { PortfolioStore, type PortfolioTools, TRANSACTIONS_MAX } from '../../src/state/portfolio';
import { Cell } from '../../src/state/readable';
import { TradingStore } from '../../src/state/trading';
import { WireError } from '../../src/wire/error';
import type { OrderVO, PortfolioValueVO, TransactionVO } from '../../src/wire/types';
import { settle, VirtualClock, VirtualFeed } from '../virtual';
import { order, transaction, value } from './samples';

let feed: VirtualFeed;
let clock: VirtualClock;
let strategy: Cell<number | null>;
let security: Cell<number | null>;
let past: OrderVO[];
let open: OrderVO[];
let values: PortfolioValueVO[];
let booked: TransactionVO[];
let news: OrderNews[];
/** Number of history requests that still fail. */
let failures: number;
let blotter: OrderBlotter;
let server: OrdersTools['server'] & PortfolioTools['server'];
let portfolioStore: PortfolioStore;

const snapshot = <T>(list: T, sequence = 10) => Promise.resolve({ sequence, value: list });

/** Most rows of history that the server gives. */
const PAGE = 3;

function newestOf<T extends { strategyId: number }>(rows: readonly T[], strategyId: number | null): T[] {
  return rows.filter((row) => strategyId === null || row.strategyId === strategyId).slice(-PAGE);
}

beforeEach(() => {
  [feed, clock, strategy, news] = [new VirtualFeed(), new VirtualClock(), new Cell<number | null>(null), []];
  [past, open, values, booked] = [[], [], [], []];
  failures = 0;
  const tools = { feed, clock, strategy, onTrouble: (error: unknown) => expect.fail(String(error)) };
  server = {
    openOrders: () => snapshot(open, 12),
    pastOrders: (strategyId: number | null = null) =>
      failures-- > 0 ? Promise.reject(new WireError(503, 'busy', 'not now')) : snapshot(newestOf(past, strategyId), 12),
    searchOrders: ({ text }: { text: string }) =>
      failures-- > 0 ? Promise.reject(new WireError(503, 'history-behind', 'not yet')) : snapshot(past.filter(({ intId }) => intId.includes(text)), 12),
    orderEvents: () => Promise.resolve([]),
    positions: () => snapshot([]),
    balances: () => snapshot([]),
    values: () => snapshot(values),
    transactions: (strategyId: number | null = null) => snapshot(newestOf(booked, strategyId)),
    transactionsIn: (securityId: number) => snapshot(booked.filter((row) => row.securityId === securityId).slice(-PAGE)),
  };
  security = new Cell<number | null>(null);
  portfolioStore = new PortfolioStore({ ...tools, server, security });
  blotter = new OrderBlotter({ ...tools, server, fills: portfolioStore.fills, onNews: (item) => news.push(item) });
});

async function connect(): Promise<void> {
  feed.up();
  await settle();
}

const ids = (orders: readonly OrderVO[]) => orders.map(({ intId }) => intId);

describe('orders', () => {
  it('are the open ones and those of the past', async () => {
    past = [order({ id: 2, intId: 'done', status: 'EXECUTED' }), order({ id: 3, intId: 'new' })];
    open = [order({ id: 1, intId: 'old' }), order({ id: 3, intId: 'new' })];
    await connect();
    expect([ids(blotter.history.get()), ids(blotter.open.get())]).toEqual([['old', 'new', 'done'], ['old', 'new']]);
  });

  it('that the kill switch reaches are those of every strategy, whichever is selected', async () => {
    past = [order({ id: 3, intId: 'done', status: 'EXECUTED' })];
    open = [order({ id: 1, intId: 'mine', strategyId: 1 }), order({ id: 2, intId: 'other', strategyId: 2 })];
    strategy.set(1);
    await connect();
    expect([ids(blotter.open.get()), ids(blotter.all.get().filter(isOpen))]).toEqual([['mine'], ['mine', 'other']]);
  });

  it('are newer than the past that is read after them', async () => {
    past = [order({ status: 'CANCELED', filledQuantity: 20 })];
    open = [order({ filledQuantity: 40 })];
    await connect();
    expect(blotter.all.row('A-1')?.filledQuantity).toBe(40);
  });

  it('that are done leave the open ones and stay in the history', async () => {
    open = [order()];
    await connect();
    feed.deliver('order.>', 13, order({ status: 'CANCELED' }));
    expect([blotter.open.size(), blotter.history.size()]).toEqual([0, 1]);
  });

  it('show one strategy where one is selected', async () => {
    open = [order(), order({ id: 2, intId: 'B-1', strategyId: 2 })];
    await connect();
    strategy.set(2);
    expect(ids(blotter.open.get())).toEqual(['B-1']);
  });

  it('report fills and rejects, not those of the first snapshot, and not twice', async () => {
    open = [order({ filledQuantity: 10 })];
    await connect();
    feed.deliver('order.>', 13, order({ filledQuantity: 30 }));
    feed.deliver('order.>', 13, order({ filledQuantity: 30 }));
    feed.deliver('order.>', 14, order({ id: 2, intId: 'B', status: 'REJECTED', reason: 'no' }));
    expect(news.map(({ order: { intId }, filled, isRejected }) => [intId, filled, isRejected])).toEqual([
      ['A-1', 20, false],
      ['B', 0, true],
    ]);
  });

  it('tell after a lost connection what happened meanwhile', async () => {
    open = [order()];
    await connect();
    feed.down();
    [past, open] = [[order({ status: 'EXECUTED', filledQuantity: 100 })], []];
    await connect();
    expect([news.map(({ filled }) => filled), blotter.open.size()]).toEqual([[100], 0]);
  });

  it('that were open stay in doubt until the history is loaded, however often it must be requested', async () => {
    open = [order(), order({ id: 2, intId: 'B-1' })];
    await connect();
    feed.down();
    [past, open, failures] = [[order({ status: 'EXECUTED', filledQuantity: 100 })], [order({ id: 2, intId: 'B-1' })], 2];
    await connect();
    const shown = () => blotter.all.get().map(({ intId, status, inDoubt }) => [intId, status, inDoubt]);
    const undecided = [['A-1', 'SUBMITTED', true], ['B-1', 'SUBMITTED', false]];
    expect(shown()).toEqual(undecided);
    clock.advance(RETRY_AFTER_MS);
    await settle();
    expect([shown(), news]).toEqual([undecided, []]);
    clock.advance(RETRY_AFTER_MS);
    await settle();
    expect([shown(), news.map(({ filled }) => filled)]).toEqual([[['A-1', 'EXECUTED', false], ['B-1', 'SUBMITTED', false]], [100]]);
  });

  it('in doubt are settled by a message too, and gone where the past does not know them', async () => {
    open = [order(), order({ id: 2, intId: 'B-1' })];
    await connect();
    feed.down();
    [open, failures] = [[], 1];
    await connect();
    feed.deliver('order.>', 13, order({ status: 'CANCELED' }));
    clock.advance(RETRY_AFTER_MS);
    await settle();
    expect(blotter.all.get().map(({ intId, status }) => [intId, status])).toEqual([['A-1', 'CANCELED']]);
  });

  it('in doubt that are older than the loaded history are searched by their id, until the server has answered', async () => {
    open = [order({ id: 1, intId: 'A-1' }), order({ id: 2, intId: 'B-1' })];
    await connect();
    feed.down();
    const newer = [11, 12, 13].map((id) => order({ id, intId: `D-${id}`, status: 'CANCELED' }));
    [open, past] = [[], [order({ id: 1, intId: 'A-1', status: 'EXECUTED', filledQuantity: 100 }), order({ id: 3, intId: 'A-10', status: 'CANCELED' }), ...newer]];
    let asked = 0;
    const { searchOrders } = server;
    server.searchOrders = (query, after) => (asked++ === 0 ? Promise.reject(new WireError(503, 'history-behind', 'not yet')) : searchOrders(query, after));
    await connect();
    const shown = () => blotter.all.get().filter(({ intId }) => !intId.startsWith('D')).map(({ intId, status, inDoubt }) => [intId, status, inDoubt]);
    expect(shown()).toEqual([['A-1', 'SUBMITTED', true], ['B-1', 'SUBMITTED', true]]);
    clock.advance(RETRY_AFTER_MS);
    await settle();
    expect([shown(), news.map(({ filled }) => filled)]).toEqual([[['A-1', 'EXECUTED', false]], [100]]);
  });

  it('in doubt are not searched once the connection is lost', async () => {
    open = [order()];
    await connect();
    feed.down();
    open = [];
    let asked = 0;
    server.searchOrders = () => ((asked += 1), Promise.reject(WireError.unreachable()));
    await connect();
    feed.down();
    clock.advance(5 * RETRY_AFTER_MS);
    await settle();
    expect([asked, blotter.all.get().map(({ inDoubt }) => inDoubt)]).toEqual([1, [true]]);
  });

  it('of the past are no news where the first question for them failed', async () => {
    [past, failures] = [[order({ status: 'EXECUTED', filledQuantity: 100 })], 1];
    await connect();
    feed.down();
    await connect();
    expect([ids(blotter.history.get()), news]).toEqual([['A-1'], []]);
  });

  it('of a selected strategy are requested again after a failure, unless another is selected meanwhile', async () => {
    past = [order({ strategyId: 2, intId: 'two', status: 'EXECUTED' }), ...[2, 3, 4].map((id) => order({ id, intId: `D-${id}`, status: 'CANCELED' }))];
    await connect();
    failures = 1;
    strategy.set(2);
    await settle();
    expect(ids(blotter.history.get())).toEqual([]);
    clock.advance(RETRY_AFTER_MS);
    await settle();
    expect(ids(blotter.history.get())).toEqual(['two']);
  });

  it('of a quiet strategy are found when it is selected, also after a lost connection, and are no news', async () => {
    const done = (id: number, strategyId: number) =>
      order({ id, intId: `D-${id}`, strategyId, status: 'EXECUTED', filledQuantity: 100 });
    past = [done(1, 2), done(2, 2), done(3, 1), done(4, 1), done(5, 1), done(6, 1)];
    await connect();
    expect(ids(blotter.history.get())).toEqual(['D-4', 'D-5', 'D-6']);
    strategy.set(2);
    await settle();
    expect(ids(blotter.history.get())).toEqual(['D-1', 'D-2']);
    feed.down();
    past.unshift(done(0, 2));
    await connect();
    expect([ids(blotter.history.get()), news]).toEqual([['D-1', 'D-2', 'D-0'], []]);
  });

  it('of the strategy that is looked at are the last to be forgotten', async () => {
    past = [order({ intId: 'quiet', strategyId: 2, status: 'EXECUTED' })];
    strategy.set(2);
    await connect();
    for (let id = 2; id <= ORDERS_MAX + FORGOTTEN_AT_ONCE + 1; id += 1) feed.deliver('order.>', 20, order({ id, intId: `D-${id}`, status: 'CANCELED' }));
    expect([blotter.all.size(), ids(blotter.history.get())]).toEqual([ORDERS_MAX, ['quiet']]);
  });

  it('are bounded: the oldest that are done are forgotten first', async () => {
    open = [order()];
    await connect();
    for (let id = 2; id <= ORDERS_MAX + FORGOTTEN_AT_ONCE + 1; id += 1) feed.deliver('order.>', 20, order({ id, intId: `D-${id}`, status: 'CANCELED' }));
    expect([blotter.all.size(), blotter.all.row('A-1') !== undefined, blotter.all.row('D-2')]).toEqual([ORDERS_MAX, true, undefined]);
  });
});

describe('totals', () => {
  it('are the sum of the selected strategies', async () => {
    values = [value(), value({ strategyId: 2, netLiqValue: 500, openPositions: 0 })];
    await connect();
    expect(portfolioStore.totals.get()).toMatchObject({ netLiqValue: 1_500, realizedPL: 10, openPositions: 1, currency: 'USD' });
    strategy.set(2);
    expect(portfolioStore.totals.get()).toMatchObject({ netLiqValue: 500, openPositions: 0 });
  });

  it('are unknown where one part is', async () => {
    values = [value(), value({ strategyId: 2, unrealizedPL: null })];
    await connect();
    expect(portfolioStore.totals.get()).toMatchObject({ unrealizedPL: null, realizedPL: 10 });
  });
});

describe('fills', () => {
  it('are the bookings of trades', async () => {
    booked = [transaction(), transaction({ id: 2, type: 'CREDIT', securityId: null })];
    await connect();
    feed.deliver('transaction.>', 11, transaction({ id: 3, type: 'SELL', quantity: -4 }));
    clock.frame();
    expect(portfolioStore.fills.get().map(({ id, side, quantity }) => [id, side, quantity])).toEqual([
      [1, 'BUY', 10],
      [3, 'SELL', 4],
    ]);
  });

  it('and bookings of a quiet strategy are found when it is selected', async () => {
    booked = [transaction({ strategyId: 2 }), ...[2, 3, 4, 5].map((id) => transaction({ id }))];
    await connect();
    strategy.set(2);
    await settle();
    clock.frame();
    clock.frame();
    expect([portfolioStore.transactions.get(), portfolioStore.fills.get()].map((rows) => rows.map(({ id }) => id))).toEqual([[1], [1]]);
  });

  it('in a security that others hide are found when it is selected, and after a reconnect', async () => {
    booked = [transaction({ securityId: 7 }), ...[2, 3, 4, 5].map((id) => transaction({ id }))];
    security.set(7);
    const fills = () => {
      clock.frame();
      clock.frame();
      return portfolioStore.fills.get().flatMap(({ id, securityId }) => (securityId === 7 ? [id] : []));
    };
    await connect();
    expect(fills()).toEqual([1]);
    feed.down();
    await connect();
    expect(fills()).toEqual([1]);
  });

  it('in the selected security are forgotten last', async () => {
    security.set(7);
    await connect();
    feed.deliver('transaction.>', 11, transaction({ securityId: 7 }));
    for (let id = 2; id <= TRANSACTIONS_MAX + FORGOTTEN_AT_ONCE + 1; id += 1) feed.deliver('transaction.>', 11, transaction({ id }));
    clock.frame();
    clock.frame();
    expect([portfolioStore.fills.row(1)?.id, portfolioStore.fills.row(2), portfolioStore.fills.size()]).toEqual([1, undefined, TRANSACTIONS_MAX]);
  });

  it('are forgotten with the oldest bookings', async () => {
    await connect();
    for (let id = 1; id <= TRANSACTIONS_MAX + FORGOTTEN_AT_ONCE + 1; id += 1) feed.deliver('transaction.>', 11, transaction({ id }));
    clock.frame();
    clock.frame();
    expect([portfolioStore.transactions.size(), portfolioStore.fills.size(), portfolioStore.fills.row(2)]).toEqual([
      TRANSACTIONS_MAX,
      TRANSACTIONS_MAX,
      undefined,
    ]);
  });
});

describe('cancelling all', () => {
  it('requests each named cancel that is not under way, and counts the failures; an order that is done already is none', async () => {
    open = [
      order(),
      order({ id: 2, intId: 'gone' }),
      order({ id: 3, intId: 'stuck' }),
      order({ id: 4, intId: 'pending', status: 'PENDING_CANCEL' }),
      order({ id: 5, intId: 'hidden by a filter' }),
    ];
    await connect();
    const asked: string[] = [];
    const cancel = async (intId: string) => {
      asked.push(intId);
      if (intId === 'gone') throw new WireError(409, 'order-is-done', 'too late');
      if (intId === 'stuck') throw new WireError(503, 'adapter-down', 'not now');
    };
    const trading = new TradingStore({ cancel } as never, blotter.open, new Cell(null));
    const named = ['A-1', 'gone', 'stuck', 'pending', 'unheard of'];
    expect(await trading.cancelAll(named)).toEqual({ requested: 3, failed: 1 });
    expect(asked.sort()).toEqual(['A-1', 'gone', 'stuck']);
  });
});
