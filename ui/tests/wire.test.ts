/** Calls over HTTP as the server answers them, topic names, and the end of a long list. */

import { describe, expect, it } from 'vitest';
import { list } from '../src/wire/decode';
import { tick } from '../src/wire/decoders';
import { WireError } from '../src/wire/error';
import { type Fetch, Rest } from '../src/wire/rest';
import { Server } from '../src/wire/server';
import { segment } from '../src/wire/topics';

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

describe('a call', () => {
  it('gives the picture with the sequence that it is as of', async () => {
    const { rest } = answering([], { headers: { 'rialto-sequence': '483' } });
    expect(await rest.picture('/rest/marketdata/tick', list(tick))).toEqual({ sequence: 483, value: [] });
  });

  it('that is refused fails with the text of the server and knows the fields', async () => {
    const { rest } = answering(refused, { status: 400 });
    const error = await failureOf(rest.tell('POST', '/rest/execution/order/market', {}));
    expect([error.status, error.code, error.message]).toEqual([400, refused.code, refused.detail]);
    expect(['side', 'quantity', 'limit'].map((field) => error.reasonFor(field))).toEqual([
      'is needed',
      'must be a number',
      '',
    ]);
  });

  it('that is refused without a problem says at least the status', async () => {
    const { rest } = answering('gone', { status: 502 });
    expect((await failureOf(rest.tell('GET', '/rest/account'))).message).toBe('the server answered 502');
  });

  it('that finds no server says so', async () => {
    const rest = new Rest(() => Promise.reject(new TypeError('Failed to fetch')));
    expect((await failureOf(rest.tell('GET', '/rest/account'))).code).toBe('unreachable');
  });

  it('says that it comes from the screen', async () => {
    const { rest, calls } = answering(null);
    await rest.tell('DELETE', '/rest/position/3');
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
  it('is asked for newest first, of all strategies or of one', async () => {
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
