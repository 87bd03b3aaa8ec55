/** Reference data: the list of securities is loaded once, and then only what changed. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Change } from '../../src/state/api';
import { RETRY_AFTER_MS } from '../../src/state/join';
import { ReferenceData } from '../../src/state/reference';
import { Rows } from '../../src/state/table';
import { WireError } from '../../src/wire/error';
import type { ExchangeVO, SecurityChangeVO, SecurityFamilyVO, SecurityVO } from '../../src/wire/types';
import { settle, VirtualClock, VirtualFeed } from '../virtual';

const [STOCK] = JSON.parse(readFileSync(new URL('../../../contract/json/SecurityVO.json', import.meta.url), 'utf8')) as [SecurityVO];
const stock = (id: number, symbol: string): SecurityVO => ({ ...STOCK, id, symbol });
const changed = (sequence: number, id: number, symbol: string | null): SecurityChangeVO => ({
  sequence,
  securityId: id,
  security: symbol === null ? null : stock(id, symbol),
});

const LIST = [changed(4, 1, 'ONE'), changed(5, 2, 'TWO'), changed(5, 9, null)];

function referenceWith(changesAfter: (after: number) => SecurityChangeVO[]) {
  const [feed, clock, calls] = [new VirtualFeed(), new VirtualClock(), [] as string[]];
  const none = () => Promise.resolve([]);
  const [families, exchanges] = [[] as SecurityFamilyVO[], [] as ExchangeVO[]];
  const server = {
    securityChanges: async (after: number) => {
      calls.push(`after ${after}`);
      const value = after === 0 ? LIST : changesAfter(after);
      return { sequence: value.at(-1)?.sequence ?? after, value };
    },
    families: async () => {
      calls.push('families');
      return [...families];
    },
    exchanges: async () => {
      calls.push('exchanges');
      return [...exchanges];
    },
    accounts: none,
    search: none,
  };
  const onTrouble = (error: unknown) => expect.fail(String(error));
  const strategies = new Rows(clock, ({ id }: { id: number }) => id) as never;
  const reference = new ReferenceData({ server, feed, clock, onTrouble, strategies });
  const seen: string[] = [];
  reference.securities.watch(({ reset, upserted, removed }: Change<SecurityVO>) => {
    seen.push(`${reset ? 'all ' : ''}+${upserted.map(({ symbol }) => symbol).join()} -${removed.map(({ symbol }) => symbol).join()}`);
  });
  const connect = async () => {
    feed.up();
    await settle();
    clock.frame();
  };
  const shown = () => reference.securities.get().map(({ symbol }) => symbol).join();
  return { feed, clock, reference, families, exchanges, calls, seen, connect, shown };
}

test('a change on the topic is shown without loading the list again', async () => {
  const { feed, clock, calls, seen, connect, shown } = referenceWith(() => []);
  await connect();
  // It is in the list already.
  feed.deliver('security.>', 5, changed(5, 1, 'OLD'));
  feed.deliver('security.>', 6, changed(6, 3, 'THREE'));
  feed.deliver('security.>', 7, changed(7, 1, null));
  clock.frame();
  expect([shown(), calls]).toEqual(['TWO,THREE', ['after 0']]);
  expect(seen.at(-1)).toBe('+THREE -ONE');
});

test('after a lost connection only what changed is loaded', async () => {
  const { feed, calls, seen, connect, shown } = referenceWith((after) => (after < 9 ? [changed(9, 2, 'TWO2')] : []));
  await connect();
  // Others of the same sequence may be lost with the connection.
  feed.deliver('security.>', 8, changed(8, 3, 'THREE'));
  feed.down();
  await connect();
  feed.down();
  await connect();
  expect([shown(), calls]).toEqual(['ONE,TWO2,THREE', ['after 0', 'after 7', 'after 9']]);
  expect(seen.filter((change) => change.startsWith('all '))).toHaveLength(2);
});

test('where the server has forgotten changes, the list is loaded again', async () => {
  const forgotten = () => {
    throw new WireError(410, 'changes-forgotten', 'load the list again');
  };
  const { feed, clock, calls, connect, shown } = referenceWith(forgotten);
  await connect();
  feed.deliver('security.>', 8, changed(8, 3, 'THREE'));
  feed.down();
  await connect();
  clock.advance(RETRY_AFTER_MS);
  await settle();
  expect([shown(), calls]).toEqual(['ONE,TWO', ['after 0', 'after 7', 'after 0']]);
});

test('loading waits for the first list', async () => {
  const { feed, reference, shown } = referenceWith(() => []);
  let isLoaded = false;
  const loading = reference.load().then(() => (isLoaded = true));
  await settle();
  expect(isLoaded).toBe(false);
  feed.up();
  await loading;
  expect(shown()).toBe('ONE,TWO');
});

test('a family or an exchange that a security names first is loaded once', async () => {
  const { feed, reference, families, exchanges, calls, connect } = referenceWith(() => []);
  const list = (sequence: number, securityFamilyId: number, exchangeId: number) => {
    const security = { ...stock(sequence, 'NEW'), securityFamilyId, exchangeId, priceIncr: null };
    feed.deliver('security.>', sequence, { sequence, securityId: sequence, security });
  };
  families.push({ id: 1, priceIncr: 0.5 } as SecurityFamilyVO);
  exchanges.push({ id: 2, code: 'TWO' } as ExchangeVO);
  await Promise.all([reference.load(), connect()]);
  calls.length = 0;
  list(6, 1, 2);
  await settle();
  expect(calls).toEqual([]);
  families.push({ id: 7, priceIncr: 0.125 } as SecurityFamilyVO);
  exchanges.push({ id: 8, code: 'EIGHT' } as ExchangeVO);
  for (const sequence of [10, 11, 12]) list(sequence, 7, 8);
  await settle();
  expect([reference.priceDigits(12), reference.exchangeCode(8), reference.exchangeCode(2)]).toEqual([3, 'EIGHT', 'TWO']);
  expect(calls).toEqual(['families', 'exchanges']);
  // The server does not have this one either.
  for (const sequence of [20, 21]) list(sequence, 99, 8);
  await settle();
  expect(calls).toEqual(['families', 'exchanges', 'families', 'exchanges']);
});
