/** Order search: the server's results, and changes of these orders meanwhile. */

import { beforeEach, describe, expect, it } from 'vitest';
import { RETRY_AFTER_MS } from '../../src/state/join';
import { Cell } from '../../src/state/readable';
import { NO_FILTER, OrderFinder, SEARCH_AFTER_MS } from '../../src/state/search';
import { Rows } from '../../src/state/table';
import { WireError } from '../../src/wire/error';
import { type OrderQuery, PAGE_ROWS } from '../../src/wire/server';
import type { OrderVO } from '../../src/wire/types';
import { settle, VirtualClock } from '../virtual';
import { order } from './samples';

let clock: VirtualClock;
let all: Rows<string, OrderVO>;
let strategy: Cell<number | null>;
let hides: Cell<boolean>;
let asked: (OrderQuery & { after: number | null })[];
let failures: WireError[];
let troubles: string[];
/** Ascending by id. */
let remembered: OrderVO[];
let search: OrderFinder;

const BLANK: OrderQuery = { text: '', strategyId: null, accountId: null, status: null, from: null, to: null, withoutStrategies: false };

const server = {
  async searchOrders(query: OrderQuery, after: number | null) {
    asked.push({ ...query, after });
    const failure = failures.shift();
    if (failure) throw failure;
    const fits = ({ id, intId, status, strategyId, source }: OrderVO) =>
      (after === null || id < after) &&
      intId.toLowerCase().includes(query.text.toLowerCase()) &&
      (query.status === null || query.status === status) &&
      (query.strategyId === null || query.strategyId === strategyId) &&
      (!query.withoutStrategies || source !== 'STRATEGY');
    return { sequence: 1, value: remembered.filter(fits).reverse().slice(0, PAGE_ROWS) };
  },
};

const done = (id: number, change: Partial<OrderVO> = {}) => order({ id, intId: `D-${id}`, status: 'CANCELED', ...change });
const ids = () => search.rows.get().map(({ intId }) => intId);

async function rest(ms = 0): Promise<void> {
  clock.advance(ms);
  await settle();
  clock.frame();
}

async function open(): Promise<void> {
  search = new OrderFinder({
    server,
    clock,
    all,
    strategy,
    hidesStrategies: hides,
    reference: { symbol: (id) => (id === 7 ? 'TSLA' : 'AAPL') },
    onTrouble: (error) => troubles.push(String(error)),
  });
  await rest();
}

beforeEach(() => {
  clock = new VirtualClock();
  all = new Rows(clock, ({ intId }) => intId);
  [strategy, hides, asked, failures, troubles] = [new Cell<number | null>(null), new Cell(false), [], [], []];
  remembered = [done(1), done(2), done(3)];
});

describe('a search for orders', () => {
  it('finds mine behind thousands of others', async () => {
    remembered = [done(1, { intId: 'mine' }), ...Array.from({ length: 6_000 }, (_, place) => done(place + 2))];
    await open();
    expect([search.rows.size(), search.hasOlder.get(), ids().includes('mine')]).toEqual([PAGE_ROWS, true, false]);
    search.find({ ...NO_FILTER, text: ' MINE ' });
    await rest(SEARCH_AFTER_MS - 1);
    expect(asked).toHaveLength(1);
    await rest(1);
    expect([ids(), search.hasOlder.get(), asked.at(-1)]).toEqual([['mine'], false, { ...BLANK, text: 'MINE', after: null }]);
  });

  it('goes back page by page', async () => {
    remembered = Array.from({ length: PAGE_ROWS + 2 }, (_, place) => done(place + 1));
    await open();
    search.older();
    search.older();
    await rest();
    expect(asked.map(({ after }) => after)).toEqual([null, 3]);
    expect([search.rows.size(), search.hasOlder.get()]).toEqual([PAGE_ROWS + 2, false]);
    search.older();
    expect(asked).toHaveLength(2);
  });

  it('searches the selected strategy, else without strategies where they are hidden', async () => {
    hides.set(true);
    await open();
    strategy.set(2);
    await rest();
    search.find({ ...NO_FILTER, status: 'REJECTED', accountId: 4, from: 10, to: 20 });
    await rest();
    expect(asked).toEqual([
      { ...BLANK, withoutStrategies: true, after: null },
      { ...BLANK, strategyId: 2, after: null },
      { ...BLANK, strategyId: 2, status: 'REJECTED', accountId: 4, from: 10, to: 20, after: null },
    ]);
  });

  it('follows what happens to the orders that it found, and takes in new ones that fit', async () => {
    await open();
    search.find({ ...NO_FILTER, status: 'CANCELED' });
    await rest();
    all.upsert(done(4));
    all.upsert(done(5, { status: 'SUBMITTED' }));
    all.upsert(done(2, { status: 'EXECUTED' }));
    all.upsert(done(3, { filledQuantity: 40 }));
    await rest();
    expect([ids(), search.rows.row('D-3')?.filledQuantity]).toEqual([['D-1', 'D-3', 'D-4'], 40]);
  });

  it.each([
    [{ text: 'tsl' }, { securityId: 7 }],
    [{ text: 'ref' }, { reference: 'my REF 1' }],
    [{ accountId: 4 }, { accountId: 4 }],
    [{ from: 50 }, { dateTime: 50 }],
  ])('of %j takes in a new order only where it fits', async (filter, fitting) => {
    remembered = [];
    await open();
    search.find({ ...NO_FILTER, ...filter });
    await rest(SEARCH_AFTER_MS);
    all.upsert(order({ id: 8, intId: 'no', dateTime: 40 }));
    all.upsert(order({ id: 9, intId: 'yes', dateTime: 40, ...fitting }));
    await rest();
    expect(ids()).toEqual(['yes']);
  });

  it('does not show an old one out of its place', async () => {
    remembered = Array.from({ length: PAGE_ROWS + 2 }, (_, place) => done(place + 1));
    await open();
    all.upsert(done(1));
    await rest();
    expect([search.rows.size(), search.rows.row('D-1')]).toEqual([PAGE_ROWS, undefined]);
  });

  it('has the last version of an order on the topic, unless that is in doubt', async () => {
    all.reset([order({ id: 2, intId: 'D-2', status: 'EXECUTED' }), order({ id: 3, intId: 'D-3', inDoubt: true })]);
    await open();
    expect(search.rows.get().map(({ status }) => status)).toEqual(['CANCELED', 'EXECUTED', 'CANCELED']);
  });

  it('has what was placed while it was running', async () => {
    all.reset([order({ id: 9, intId: 'new' })]);
    await open();
    expect(ids()).toEqual(['D-1', 'D-2', 'D-3', 'new']);
  });

  it('starts again after a lost connection', async () => {
    await open();
    remembered.push(done(4));
    all.reset([]);
    await rest();
    await rest();
    expect([asked.length, ids()]).toEqual([2, ['D-1', 'D-2', 'D-3', 'D-4']]);
  });

  it('retries where the server cannot answer, and reports what it refuses', async () => {
    failures = [WireError.unreachable()];
    await open();
    expect([search.freshness.get(), ids()]).toEqual(['loading', []]);
    await rest(RETRY_AFTER_MS);
    expect([search.freshness.get(), ids()]).toEqual(['live', ['D-1', 'D-2', 'D-3']]);
    failures = [new WireError(400, 'malformed-parameter', 'text: no')];
    search.find({ ...NO_FILTER, status: 'OPEN' });
    await rest(RETRY_AFTER_MS);
    expect([troubles, asked.length, search.isBusy.get()]).toEqual([['WireError: text: no'], 3, false]);
  });

  it('that is closed reports and requests nothing more', async () => {
    await open();
    search.close();
    strategy.set(2);
    all.upsert(done(9));
    await rest(RETRY_AFTER_MS);
    expect([asked.length, ids()]).toEqual([1, ['D-1', 'D-2', 'D-3']]);
  });
});
