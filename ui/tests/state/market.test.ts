/** Market store: prices are subscribed only while they are wanted, never go backwards, and have an age. */

import { beforeEach, describe, expect, it } from 'vitest';
import { LiveBars } from '../../src/state/bars';
import { SECURITIES_PER_CALL } from '../../src/state/baselines';
import { Book } from '../../src/state/depth';
import { LINGER_MS, MarketPrices } from '../../src/state/market';
import { WireError } from '../../src/wire/error';
import type { Bar, Tick } from '../../src/wire/types';
import { settle, VirtualClock, VirtualFeed } from '../virtual';
import { tick } from './samples';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** No server has it. */
const UNKNOWN = 99;
const START = 1_794_839_400_000;

let feed: VirtualFeed;
let clock: VirtualClock;
let ticks: Tick[];
let bars: Bar[];
let calls: string[];
let subscribed: number[];
let received: number[];
let market: MarketPrices;
let isLive: boolean;

const bar = (change: Partial<Bar> = {}): Bar => ({
  objectType: 'Bar',
  securityId: 1,
  feed: 'SIMULATED',
  dateTime: START,
  barSize: 'MIN_1',
  open: 270,
  high: 271,
  low: 269,
  close: 270.5,
  vol: 50,
  vwap: null,
  ...change,
});

const server = {
  ticks: () => Promise.resolve({ sequence: 1, value: ticks }),
  bars: async (securityIds: readonly number[], size: string) => {
    calls.push(`${size} ${securityIds.join()}`);
    if (securityIds.includes(UNKNOWN)) throw new WireError(422, 'unknown-security', 'no such security');
    return { sequence: 1, value: bars.filter(({ barSize, securityId }) => barSize === size && securityIds.includes(securityId)) };
  },
  books: () => Promise.resolve({ sequence: 1, value: [] }),
  subscribe: async ({ securityId }: { securityId: number }) => void subscribed.push(securityId),
};

const onTrouble = (error: unknown) => expect.fail(String(error));

beforeEach(() => {
  [feed, clock, ticks, bars, subscribed, received, calls] = [new VirtualFeed(), new VirtualClock(), [], [], [], [], []];
  isLive = true;
  market = new MarketPrices({ feed, clock, server, mayTrade: () => true, isLive: () => isLive, onTick: (at) => received.push(at), onTrouble });
});

describe('prices', () => {
  it('are subscribed while a widget wants them, and a little longer', () => {
    const [one, two] = [market.want([1, 2]), market.want([2])];
    expect(feed.topics()).toEqual(['tick.1', 'tick.2']);
    one();
    one();
    clock.advance(LINGER_MS);
    expect(feed.topics()).toEqual(['tick.2']);
    two();
    const again = market.want([2]);
    clock.advance(LINGER_MS);
    expect(feed.topics()).toEqual(['tick.2']);
    again();
    clock.advance(LINGER_MS);
    expect(feed.topics()).toEqual([]);
  });

  it('do not go back in time', async () => {
    market.want([1]);
    feed.deliver('tick.1', 5, tick({ dateTime: START + 10, last: 273 }));
    ticks = [tick({ last: 272 })];
    await market.load();
    expect(market.quotes.row(1)?.tick.last).toBe(273);
  });

  it('of a quiet market grow old and are not stale: whether its feed is silent is known to the server', () => {
    market.want([1]);
    feed.deliver('tick.1', 5, tick());
    clock.advance(60 * MINUTE);
    const quote = market.quotes.row(1)!;
    expect([market.ageOf(quote), market.isStale(quote)]).toEqual([60 * MINUTE, false]);
    feed.deliver('tick.1', 6, tick({ stale: 'SILENT' }));
    expect(market.isStale(market.quotes.row(1)!)).toBe(true);
  });

  it('are stale at once, and no younger, when the server says that the feed has lost them', () => {
    market.want([1]);
    feed.deliver('tick.1', 5, tick());
    clock.advance(MINUTE / 10);
    feed.deliver('tick.1', 6, tick({ stale: 'DISCONNECTED' }));
    const lost = market.quotes.row(1)!;
    expect([market.isStale(lost), market.ageOf(lost)]).toEqual([true, MINUTE / 10]);
    expect(received).toEqual([START]);
    feed.deliver('tick.1', 7, tick({ dateTime: START + 1 }));
    expect(market.isStale(market.quotes.row(1)!)).toBe(false);
  });

  it('all count as old while the server is silent', async () => {
    ticks = [tick()];
    await market.load();
    const [quote] = market.quotes.get();
    const stale = () => quote && market.isStale(quote);
    expect(stale()).toBe(false);
    isLive = false;
    expect(stale()).toBe(true);
  });

  it('of a security without a price are subscribed at the server', async () => {
    ticks = [tick()];
    await market.load();
    market.want([1, 7]);
    expect(subscribed).toEqual([7]);
  });

  it('are held against the first price that is known, and drawn by the minute', async () => {
    bars = [bar(), bar({ barSize: 'SEC_1' })];
    market.want([1]);
    await settle();
    feed.deliver('tick.1', 5, tick({ dateTime: START + 1, last: 272.7 }));
    feed.deliver('tick.1', 6, tick({ dateTime: START + 2, last: 273 }));
    const quote = market.quotes.row(1)!;
    expect([quote.change, quote.spark]).toEqual([3, [270.5, 273]]);
    feed.deliver('tick.1', 7, tick({ dateTime: START + MINUTE, last: 274 }));
    expect(market.quotes.row(1)?.spark).toEqual([270.5, 273, 274]);
  });

  it('of many securities are held against bars that a few calls brought', async () => {
    const minutes = Array.from({ length: 10 }, (_, close) => bar({ securityId: 2, close }));
    bars = [bar({ barSize: 'DAY_1', close: 260 }), bar({ barSize: 'DAY_1', securityId: 2, close: 5 }), ...minutes];
    market.want([1, 2]);
    market.want([2, 3]);
    await settle();
    for (const securityId of [1, 2, 3]) feed.deliver(`tick.${securityId}`, 5, tick({ securityId, last: 270 }));
    expect(calls).toEqual(['DAY_1 1,2,3', 'MIN_1 1,2,3', 'SEC_1 1,3']);
    expect([1, 2, 3].map((id) => market.quotes.row(id)?.change)).toEqual([10, 265, 0]);
    expect(market.quotes.row(2)?.spark).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 270]);
  });

  it('are held against something even where one that the browser remembers is no longer there', async () => {
    bars = [1, 2, 3].map((securityId) => bar({ barSize: 'DAY_1', securityId, close: 260 }));
    market.want([1, 2, UNKNOWN, 3]);
    await settle();
    for (const securityId of [1, 2, 3]) feed.deliver(`tick.${securityId}`, 5, tick({ securityId, last: 270 }));
    expect([1, 2, 3].map((id) => market.quotes.row(id)?.change)).toEqual([10, 10, 10]);
  });

  it('of more securities than one call takes are read by several', async () => {
    market.want(Array.from({ length: SECURITIES_PER_CALL + 1 }, (_, place) => 1_000 + place));
    await settle();
    expect(calls.filter((call) => call.startsWith('DAY_1')).map((call) => call.split(',').length)).toEqual([SECURITIES_PER_CALL, 1]);
  });

  it('are held against the close of yesterday when the day is over', async () => {
    const yesterday = bar({ barSize: 'DAY_1', close: 260 });
    bars = [yesterday];
    market.want([1]);
    await settle();
    const deliverTick = async (at: number) => {
      feed.deliver('tick.1', 5, tick({ dateTime: at, last: 273 }));
      await settle();
      return market.quotes.row(1)?.change;
    };
    expect(await deliverTick(START)).toBe(13);
    bars = [yesterday, bar({ barSize: 'DAY_1', dateTime: START, close: 270 })];
    expect(await deliverTick(START + 5)).toBe(13);
    expect(await deliverTick(START + DAY)).toBe(3);
  });

  it('are drawn by the minute when there are enough of them, and read anew after a lost connection', async () => {
    bars = [bar({ barSize: 'SEC_1', close: 1 })];
    market.want([1]);
    await settle();
    feed.deliver('tick.1', 5, tick({ dateTime: START, last: 5 }));
    const spark = () => market.quotes.row(1)?.spark;
    expect(spark()).toEqual([1, 5]);
    bars = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((close) => bar({ close }));
    feed.deliver('tick.1', 6, tick({ dateTime: START + 10 * MINUTE, last: 12 }));
    await settle();
    expect(spark()).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    await market.load();
    bars = bars.slice(1);
    bars.push(bar({ close: 99 }));
    await market.load();
    await settle();
    expect(spark()).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 99, 12]);
  });

  it('without a trade since the server started are the close of the last bar', async () => {
    bars = [bar(), bar({ barSize: 'SEC_1' })];
    market.want([1]);
    await settle();
    feed.deliver('tick.1', 5, tick({ dateTime: START + 1, last: null, lastDateTime: null }));
    expect(market.quotes.row(1)).toMatchObject({ last: 270.5, change: 0.5, spark: [270.5] });
    feed.deliver('tick.1', 6, tick({ dateTime: START + 2, last: 271 }));
    expect(market.quotes.row(1)).toMatchObject({ last: 271, change: 1, spark: [270.5, 271] });
  });

  it('that were held back do not tell how late we are', () => {
    market.want([1]);
    feed.deliver('tick.1', 5, tick({ dateTime: START + 1 }), { conflated: 3 });
    feed.deliver('tick.1', 6, tick({ dateTime: START + 2 }), { isSnapshot: true });
    feed.deliver('tick.1', 7, tick({ dateTime: START + 3 }));
    expect(received).toEqual([START + 3]);
  });
});

describe('bars', () => {
  const open = async () => {
    const series = new LiveBars(1, 'MIN_1', { feed, clock, server, market, onTrouble });
    feed.up();
    await settle();
    return series;
  };

  it('grow with the ticks until the server closes them', async () => {
    bars = [bar()];
    const series = await open();
    const trade = (last: number, vol: number, at: number) => {
      feed.deliver('tick.1', 9, tick({ dateTime: at, lastDateTime: at, last, vol }));
      clock.frame();
    };
    trade(272, 100, START + MINUTE);
    trade(274, 130, START + MINUTE + 2_000);
    expect(series.get().at(-1)).toMatchObject({ dateTime: START + MINUTE, open: 272, high: 274, close: 274, vol: 30 });
    feed.deliver('bar.1.MIN_1', 10, bar({ dateTime: START + MINUTE, close: 274, vol: 33 }));
    expect(series.get().map(({ dateTime, vol }) => [dateTime, vol])).toEqual([
      [START, 50],
      [START + MINUTE, 33],
    ]);
  });

  it('contain what was traded before they were opened', async () => {
    const part = (barSize: Bar['barSize'], dateTime: number, change: Partial<Bar>) => bar({ barSize, dateTime, ...change });
    const midnight = Math.floor(START / DAY) * DAY;
    const hour = 60 * MINUTE;
    bars = [
      part('DAY_1', midnight - DAY, { vol: 9_000 }),
      part('HOUR_1', midnight - hour, { vol: 500 }),
      part('HOUR_1', midnight, { open: 260, high: 280, vol: 1_000 }),
      part('HOUR_1', midnight + hour, { vol: 2_000 }),
      // In the hours already.
      part('MIN_1', midnight + 2 * hour - MINUTE, { vol: 7 }),
      part('MIN_1', midnight + 2 * hour, { low: 250, vol: 30 }),
      part('SEC_1', midnight + 2 * hour + MINUTE - 1_000, { vol: 7 }),
      part('SEC_1', midnight + 2 * hour + MINUTE + 1_000, { close: 271.5, vol: 4 }),
    ];
    const now = midnight + 2 * hour + MINUTE + 2_000;
    const series = new LiveBars(1, 'DAY_1', { feed, clock, server, market, onTrouble });
    const trade = (last: number, vol: number, at: number) => {
      feed.deliver('tick.1', 9, tick({ dateTime: at, lastDateTime: at, last, vol }));
      clock.frame();
    };
    // The first is in the second that is closed when the snapshot comes, the next is not.
    trade(271.5, 3_034, now - 500);
    trade(272, 3_040, now + 100);
    feed.up();
    await settle();
    const grown = { dateTime: midnight, barSize: 'DAY_1', open: 260, high: 280, low: 250 };
    expect(series.get().at(-1)).toMatchObject({ ...grown, close: 272, vol: 3_040 });
    trade(273, 3_050, now + 900);
    expect(series.get().map(({ vol, close }) => [vol, close])).toEqual([[9_000, 270.5], [3_050, 273]]);
  });

  it('have what was traded while the line was down once', async () => {
    const midnight = Math.floor(START / DAY) * DAY;
    const minute = (place: number, vol: number) => bar({ barSize: 'MIN_1', dateTime: midnight + place * MINUTE, vol });
    bars = [bar({ barSize: 'DAY_1', dateTime: midnight - DAY }), minute(0, 1_000)];
    const series = new LiveBars(1, 'DAY_1', { feed, clock, server, market, onTrouble });
    feed.up();
    await settle();
    const trade = (vol: number, at: number) => {
      feed.deliver('tick.1', 9, tick({ dateTime: at, lastDateTime: at, volLast: 1, vol }));
      clock.frame();
      return series.get().at(-1)?.vol;
    };
    expect(trade(1_000, midnight + MINUTE - 1)).toBe(1_000);
    feed.down();
    bars = [...bars, minute(1, 500)];
    feed.up();
    await settle();
    expect(trade(1_501, midnight + 2 * MINUTE)).toBe(1_501);
  });

  it('have nothing of what was traded in other bars during a disconnect', async () => {
    const series = await open();
    const trade = (vol: number, at: number) => {
      feed.deliver('tick.1', 9, tick({ dateTime: at, lastDateTime: at, volLast: 7, vol }));
      clock.frame();
      return series.get().at(-1)?.vol;
    };
    expect(trade(100, START)).toBe(0);
    expect(trade(140, START + MINUTE)).toBe(40);
    expect(trade(45_000, START + 11 * MINUTE)).toBe(7);
    expect(trade(45_030, START + 11 * MINUTE + 1)).toBe(37);
  });

  it('let go of their topics when they are closed', async () => {
    const series = await open();
    series.close();
    clock.advance(LINGER_MS);
    expect(feed.topics()).toEqual([]);
  });
});

describe('a book', () => {
  it('is shown once a frame, the newest', async () => {
    const book = new Book(1, { feed, clock, server, onTrouble });
    feed.up();
    await settle();
    const level = (price: number) => ({ objectType: 'OrderBook', securityId: 1, feed: 'S', dateTime: START, bids: [{ price, quantity: 1 }], asks: [] });
    const seen: (number | undefined)[] = [];
    book.subscribe((shown) => seen.push(shown?.bids[0]?.price));
    for (const price of [1, 2, 3]) feed.deliver('order-book.1', 5, level(price));
    clock.frame();
    expect(seen).toEqual([undefined, 3]);
  });
});
