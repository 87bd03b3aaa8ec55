import { expect, test } from 'vitest';
import { Cell } from '../../src/state/readable';
import { StrategyList } from '../../src/state/strategies';
import type { StrategyVO } from '../../src/wire/types';
import { settle, VirtualClock, VirtualFeed } from '../virtual';

test('the list shows the selected strategy alone, and knows the others', async () => {
  const feed = new VirtualFeed();
  const strategy = new Cell<number | null>(null);
  const known = [{ id: 1, name: 'SERVER' }, { id: 2, name: 'MOMENTUM' }] as StrategyVO[];
  const server = {
    strategies: async () => ({ sequence: 1, value: known }),
    startStrategy: async () => undefined,
    stopStrategy: async () => undefined,
  };
  const list = new StrategyList({ feed, clock: new VirtualClock(), server, strategy, onUnknown: expect.fail, onTrouble: expect.fail });
  const names = () => [list.selected, list.all].map((table) => table.get().map(({ name }) => name));
  feed.up();
  await settle();
  expect(names()).toEqual([['SERVER', 'MOMENTUM'], ['SERVER', 'MOMENTUM']]);
  strategy.set(2);
  expect(names()).toEqual([['MOMENTUM'], ['SERVER', 'MOMENTUM']]);
});
