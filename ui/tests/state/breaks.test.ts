/** Breaks: the picture at a connect, and what happens to each on its topic. */

import { expect, test } from 'vitest';
import { BreakList } from '../../src/state/breaks';
import type { BreakVO } from '../../src/wire/types';
import { settle, VirtualClock, VirtualFeed } from '../virtual';
import { found } from './samples';

function storeWith(snapshot: BreakVO[]) {
  const [feed, clock, calls, told] = [new VirtualFeed(), new VirtualClock(), [] as string[], [] as string[]];
  const call = (name: string) => async (id: string, comment: string) => void calls.push(`${name} ${id} ${comment}`);
  const server = {
    breaks: () => Promise.resolve({ sequence: 5, value: snapshot }),
    comparisons: () => Promise.resolve([]),
    explainBreak: call('explain'),
    acceptBreak: call('accept'),
    repairBreak: call('repair'),
  };
  const onTrouble = (error: unknown) => expect.fail(String(error));
  const store = new BreakList({ feed, clock, server, onTrouble, onChange: ({ id, state }) => told.push(`${id} ${state}`) });
  const deliver = (sequence: number, row: BreakVO) => {
    feed.deliver('break.>', sequence, row);
    clock.frame();
  };
  const states = () => [store.openCount.get(), store.all.get().map(({ id, state }) => `${id} ${state}`).join()];
  return { feed, clock, store, calls, told, deliver, states };
}

test('a break that is found while one looks is told, one that was there is not', async () => {
  const { feed, told, deliver, states } = storeWith([found()]);
  feed.up();
  await settle();
  expect([states(), told]).toEqual([[1, 'B1 OPEN'], []]);
  deliver(6, found({ id: 'B2' }));
  expect([states(), told]).toEqual([[2, 'B1 OPEN,B2 OPEN'], ['B2 OPEN']]);
  // More is known of it, and it is still the same one.
  deliver(7, found({ id: 'B2', difference: '-2' }));
  expect(told).toEqual(['B2 OPEN']);
});

test('a settled break is no longer counted, and stays in sight among all', async () => {
  const { feed, told, deliver, states, store } = storeWith([found(), found({ id: 'B2' })]);
  feed.up();
  await settle();
  deliver(6, found({ state: 'REPAIRED', changedBy: 'anna' }));
  expect([states(), store.open.get().map(({ id }) => id)]).toEqual([[1, 'B1 REPAIRED,B2 OPEN'], ['B2']]);
  // The difference is there again.
  deliver(7, found());
  expect([states(), told]).toEqual([[2, 'B1 OPEN,B2 OPEN'], ['B1 REPAIRED', 'B1 OPEN']]);
});

test('what a person decides goes to the server with the comment', async () => {
  const { store, calls } = storeWith([]);
  await store.explain('B1', 'a late fee');
  await store.accept('B2', 'rounding');
  await store.repair('B3', 'as told by the venue');
  expect(calls).toEqual(['explain B1 a late fee', 'accept B2 rounding', 'repair B3 as told by the venue']);
});
