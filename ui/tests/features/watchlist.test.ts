import { expect, test } from 'vitest';
import { Watchlist } from '../../src/features/market/watchlist';
import type { SecurityVO } from '../../src/wire/types';

function memoryWith(stored: unknown = null) {
  let kept = stored;
  let notify: (value: unknown) => void = () => undefined;
  return {
    read: () => kept,
    write: (_key: string, value: unknown) => void (kept = value),
    watch: (_key: string, listener: (value: unknown) => void) => {
      notify = listener;
      return () => (notify = () => undefined);
    },
    kept: () => kept,
    change: (value: unknown) => notify(value),
  };
}

const SECURITIES = Array.from({ length: 30 }, (_, index) => ({ id: index + 1 }) as SecurityVO);

test('a person without a list sees the first securities, and they are not kept as a choice', () => {
  const place = memoryWith();
  const list = new Watchlist(place);
  list.offer(SECURITIES);
  expect(list.list()).toHaveLength(20);
  expect(place.kept()).toBeNull();
});

test('a chosen security comes on top, once, and is found again', () => {
  const place = memoryWith([3, 1]);
  const list = new Watchlist(place);
  list.offer(SECURITIES);
  list.add(7);
  list.add(3);
  list.remove(1);
  expect(list.list()).toEqual([7, 3]);
  expect(new Watchlist(place).list()).toEqual([7, 3]);
});

test('what was removed by mistake comes back to its place', () => {
  const place = memoryWith([3, 1, 2]);
  const list = new Watchlist(place);
  const was = list.remove(1);
  expect([was, list.list()]).toEqual([1, [3, 2]]);
  list.restore(1, was);
  expect(new Watchlist(place).list()).toEqual([3, 1, 2]);
});

test('an emptied list stays empty', () => {
  const list = new Watchlist(memoryWith([]));
  list.offer(SECURITIES);
  expect(list.list()).toEqual([]);
});

test.each(['', {}, ['a'], [1.5]])('what cannot be read is no list: %j', (stored) => {
  const list = new Watchlist(memoryWith(stored));
  list.offer(SECURITIES);
  expect(list.list()).toHaveLength(20);
});

test('a subscriber receives the list now and after each change', () => {
  const list = new Watchlist(memoryWith([1]));
  const received: (readonly number[])[] = [];
  const stop = list.subscribe((ids) => received.push(ids));
  list.add(2);
  stop();
  list.add(3);
  expect(received).toEqual([[1], [2, 1]]);
});

test('the list that the same person made elsewhere is taken over', () => {
  const place = memoryWith([1]);
  const list = new Watchlist(place);
  const stop = list.follow();
  place.change([5, 6]);
  expect([list.list(), place.kept()]).toEqual([[5, 6], [1]]);
  stop();
  place.change([7]);
  expect(list.list()).toEqual([5, 6]);
});
