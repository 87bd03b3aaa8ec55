/** REST client, topic names, and the pages of a long list. */

import { describe, expect, it } from 'vitest';
import { list } from '../src/wire/decode';
import { tick } from '../src/wire/decoders';
import { WireError } from '../src/wire/error';
import { type Fetch, Rest } from '../src/wire/rest';
import { PAGE_ROWS, PAST_ROWS, Server } from '../src/wire/server';
import { segment } from '../src/wire/topics';
import { transaction } from './state/samples';

const refused = {
  type: 'urn:rialto:problem:malformed-field',
  title: 'Bad Request',
  status: 400,
  detail: 'side is needed; quantity must be a number',
  code: 'malformed-field',
  errors: [
    { field: 'side', code: 'missing', reason: 'is needed' },
    { field: 'quantity', code: 'malformed-field', reason: 'must be a number' },
  ],
};

function answering(body: unknown, init: ResponseInit = {}): { rest: Rest; calls: [string, RequestInit][] } {
  const calls: [string, RequestInit][] = [];
  const fetch: Fetch = async (path, request) => {
    calls.push([path, request]);
    return new Response(body === null ? null : JSON.stringify(body), init);
  };
  return { rest: new Rest(fetch), calls };
}

async function failureOf(promise: Promise<unknown>): Promise<WireError> {
  return promise.then(
    () => expect.fail('it should fail'),
    (error: unknown) => error as WireError,
  );
}

/** A server with transactions 1 to `count`; gives the pages that it was asked for. */
function booked(count: number): { server: Server; pages: string[] } {
  const pages: string[] = [];
  const fetch: Fetch = async (path) => {
    const query = new URL(path, 'http://server').searchParams;
    pages.push(query.get('after') ?? 'newest');
    const last = Number(query.get('after') ?? count + 1) - 1;
    const ids = Array.from({ length: Math.min(last, Number(query.get('limit'))) }, (_, place) => last - place);
    return new Response(JSON.stringify(ids.map((id) => transaction({ id }))), { headers: { 'rialto-sequence': `${40 + pages.length}` } });
  };
  return { server: new Server(new Rest(fetch)), pages };
}

describe('the past', () => {
  it('is read page by page to its end, as of the first', async () => {
    const { server, pages } = booked(2 * PAGE_ROWS + 5);
    const { sequence, value } = await server.transactions();
    expect([sequence, value.map(({ id }) => id)]).toEqual([41, Array.from({ length: 2_005 }, (_, place) => place + 1)]);
    expect(pages).toEqual(['newest', '1006', '6']);
  });

  it('is read no further than a screen keeps, and not when the rest is no longer wanted', async () => {
    const [long, dropped] = [booked(PAST_ROWS + 7), booked(PAST_ROWS)];
    const { value } = await long.server.transactions();
    await dropped.server.transactionsIn(1, () => dropped.pages.length < 2);
    expect([value.length, value[0]?.id, long.pages.length, dropped.pages.length]).toEqual([PAST_ROWS, 8, 5, 2]);
  });
});

describe('a call', () => {
  it('gives the snapshot with the sequence that it is as of', async () => {
    const { rest } = answering([], { headers: { 'rialto-sequence': '483' } });
    expect(await rest.snapshot('/rest/marketdata/tick', list(tick))).toEqual({ sequence: 483, value: [] });
  });

  it('that is refused fails with the text of the server and knows the fields', async () => {
    const { rest } = answering(refused, { status: 400 });
    const error = await failureOf(rest.command('POST', '/rest/execution/order/market', {}));
    expect([error.status, error.code, error.message]).toEqual([400, refused.code, refused.detail]);
    expect(error.errors.map(({ field, reason }) => `${field} ${reason}`)).toEqual(['side is needed', 'quantity must be a number']);
  });

  it('that is refused without a problem says at least the status', async () => {
    const { rest } = answering('gone', { status: 502 });
    expect((await failureOf(rest.command('GET', '/rest/account'))).message).toBe('the server answered 502');
  });

  it('that finds no server fails as unreachable', async () => {
    const rest = new Rest(() => Promise.reject(new TypeError('Failed to fetch')));
    expect((await failureOf(rest.command('GET', '/rest/account'))).code).toBe('unreachable');
  });

  it('says that it comes from the screen', async () => {
    const { rest, calls } = answering(null);
    await rest.command('DELETE', '/rest/position/3');
    expect(new Headers(calls[0]?.[1].headers).get('Rialto-Source')).toBe('UI');
  });
});

describe('an order', () => {
  it('goes to the path of its kind and comes back with its id', async () => {
    const headers = { location: '/rest/execution/order/my%20first' };
    const { rest, calls } = answering(null, { headers });
    const order = { objectType: 'StopLimitOrder', securityId: 1, side: 'BUY', quantity: 5, limit: 2, stop: 1 } as const;
    expect(await new Server(rest).place(order)).toBe('my first');
    expect(calls[0]?.[0]).toBe('/rest/execution/order/stoplimit');
    expect(JSON.parse(String(calls[0]?.[1].body))).toEqual(order);
  });
});

describe('the past', () => {
  it('is requested newest first, of all strategies or of one', async () => {
    const { rest, calls } = answering([], { headers: { 'rialto-sequence': '483' } });
    const server = new Server(rest);
    await server.pastOrders();
    await server.pastOrders(3);
    await server.transactions(3);
    await server.transactionsIn(7);
    await server.audit(500);
    expect(calls.map(([path]) => path)).toEqual([
      '/rest/history/order?sort=NEWEST&limit=1000',
      '/rest/history/order?sort=NEWEST&limit=1000&strategy=3',
      '/rest/history/transaction?sort=NEWEST&limit=1000&strategy=3',
      '/rest/history/transaction?sort=NEWEST&limit=1000&security=7',
      '/rest/audit?sort=NEWEST&limit=500',
    ]);
  });
});

describe('a topic', () => {
  it('keeps one id in one segment', () => {
    expect(['MOMENTUM', 'a.b', 'x y', 'ü'].map(segment)).toEqual(['MOMENTUM', 'a%2Eb', 'x%20y', '%C3%BC']);
  });
});
