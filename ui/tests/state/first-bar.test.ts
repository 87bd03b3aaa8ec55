import { expect, test } from 'vitest';
import { LiveBars } from '../../src/state/bars';
import type { Market } from '../../src/state/api';
import { Rows } from '../../src/state/table';
import { settle, VirtualClock, VirtualFeed } from '../virtual';
import { tick } from './samples';

test('a tick without a trade draws no bar again, a trade does', async () => {
  const [feed, clock] = [new VirtualFeed(), new VirtualClock()];
  const quotes = new Rows(clock, ({ securityId }: { securityId: number }) => securityId);
  const market = { quotes, want: () => () => undefined } as unknown as Market;
  const server = { bars: async () => ({ sequence: 1, value: [] }) };
  const series = new LiveBars(1, 'MIN_1', { feed, clock, market, server, onTrouble: (error) => expect.fail(String(error)) });
  feed.up();
  await settle();
  const lastDateTime = clock.now();
  const closes: (number | undefined)[] = [];
  series.subscribe((bars) => closes.push(bars.at(-1)?.close));
  for (const change of [{ bid: 100 }, { bid: 101 }, { bid: 102 }, { last: 103, vol: 20 }]) {
    quotes.upsert({ securityId: 1, tick: tick({ lastDateTime, last: 99, vol: 10, ...change }) } as never);
    clock.frame();
  }
  expect(closes).toEqual([undefined, 99, 103]);
});

test('no bar is drawn before the past is there', async () => {
  const [feed, clock] = [new VirtualFeed(), new VirtualClock()];
  const quotes = new Rows(clock, ({ securityId }: { securityId: number }) => securityId);
  const market = { quotes, want: () => () => undefined } as unknown as Market;
  let answer: (bars: { sequence: number; value: never[] }) => void = () => undefined;
  const snapshot = new Promise<{ sequence: number; value: never[] }>((resolve) => (answer = resolve));
  const bars = new LiveBars(1, 'SEC_1', { feed, clock, market, server: { bars: () => snapshot }, onTrouble: (error) => expect.fail(String(error)) });
  feed.up();
  quotes.upsert({ securityId: 1, tick: tick({ lastDateTime: clock.now() }) } as never);
  clock.frame();
  expect(bars.get()).toEqual([]);
  answer({ sequence: 1, value: [] });
  await settle();
  expect(bars.get().length).toBe(1);
});
