/** The application as a whole: login and logout, a lost connection, notifications. */

import { beforeEach, describe, expect, it } from 'vitest';
import { LAGGING_AFTER_MS } from '../../src/state/connection';
import { type Application, createApplication } from '../../src/state/application';
import type { Settings } from '../../src/state/api';
import { WRITE_AFTER_MS } from '../../src/state/preferences';
import type { Memory } from '../../src/state/storage';
import { WireError } from '../../src/wire/error';
import type { Server } from '../../src/wire/server';
import { settle, VirtualClock, VirtualFeed } from '../virtual';
import { order, tick, transaction } from './samples';

let feed: VirtualFeed;
let clock: VirtualClock;
let memory: Map<string, unknown>;
let isKnown: boolean;
let calls: string[];
/** The server's preferences of the current user. */
let stored: Record<string, unknown>;
let open: Application;

const identity = { user: 'anna', role: 'TRADER', strategy: null };

/** A server that has an identity and preferences, and no other data. */
function quietServer(): Server {
  const answers: Record<string, (body: Record<string, unknown>) => unknown> = {
    identity: () => (isKnown ? identity : Promise.reject(new WireError(401, 'unauthorized', 'who are you?'))),
    settings: () => ({ tag: '"0"', value: stored }),
    keepSettings: (document) => ((stored = document), '"1"'),
    login: () => ((isKnown = true), identity),
    logout: () => (isKnown = false),
    families: () => [],
    exchanges: () => [],
    accounts: () => [],
    log: () => [],
    cluster: () => ({ role: 'alone' }),
  };
  const handler = {
    get: (_: object, name: string) => async (body: Record<string, unknown>) => {
      calls.push(name);
      return (answers[name] ?? (() => ({ sequence: 1, value: [] })))(body);
    },
  };
  return new Proxy({}, handler) as Server;
}

beforeEach(() => {
  [feed, clock, memory, isKnown, calls, stored] = [new VirtualFeed(), new VirtualClock(), new Map(), true, [], {}];
  const kept: Memory = { read: (key) => memory.get(key) ?? null, write: (key, value) => void memory.set(key, value) };
  open = createApplication({ server: quietServer(), feed, clock, memory: kept, language: 'en' });
});

async function enter(): Promise<void> {
  await open.access.identify();
  feed.up();
  await settle();
}

const link = () => open.stores.connection.get().link;
const notices = () => open.stores.notifications.all.get().map(({ title }) => title);

describe('the application', () => {
  it('listens once the server has let us in', async () => {
    isKnown = false;
    await open.access.identify();
    expect([open.access.phase.get(), feed.isStarted]).toEqual(['out', false]);
    await open.access.login('anna', 'secret');
    expect([open.access.phase.get(), feed.isStarted, open.access.may('TRADER'), open.access.may('ADMIN')]).toEqual(['in', true, true, false]);
  });

  it('stops listening when the session has ended', async () => {
    await enter();
    isKnown = false;
    feed.down();
    await settle();
    expect([open.access.phase.get(), feed.isStarted]).toEqual(['out', false]);
  });

  it('shows that a session ended, and not after a logout', async () => {
    isKnown = false;
    await open.access.identify();
    const reported = [open.access.isEnded.get()];
    isKnown = true;
    await enter();
    await open.access.logout();
    reported.push(open.access.isEnded.get());
    isKnown = true;
    await enter();
    isKnown = false;
    feed.down();
    await settle();
    reported.push(open.access.isEnded.get());
    await open.access.login('anna', 'secret');
    expect([...reported, open.access.isEnded.get()]).toEqual([false, false, true, false]);
  });

  it('publishes a burst of notices once a frame, and has them at once', async () => {
    await enter();
    const seen: number[] = [];
    open.stores.notifications.all.subscribe((all) => seen.push(all.length));
    for (const title of ['one', 'two', 'three']) open.stores.notifications.raise('info', title);
    expect([seen, notices()]).toEqual([[0], ['three', 'two', 'one']]);
    clock.frame();
    expect(seen).toEqual([0, 3]);
  });

  it('shows all strategies where the one that was selected last is unknown, says so once and forgets it', async () => {
    memory.set('user.anna.strategy', 99);
    await enter();
    feed.down();
    feed.up();
    await settle();
    expect([open.stores.selection.strategyId.get(), memory.get('user.anna.strategy')]).toEqual([null, null]);
    expect(notices().filter((title) => title === 'All strategies are shown')).toHaveLength(1);
  });

  it('queries the identity again where the server cannot be reached', async () => {
    const server = { identity: () => Promise.reject(WireError.unreachable()) };
    const access = new (open.access.constructor as new (...args: unknown[]) => Application['access'])(server, clock);
    await access.identify();
    expect(access.phase.get()).toBe('asking');
  });

  it('loads everything but the preferences again after a lost connection, and raises a notice', async () => {
    await enter();
    const first = [...new Set(calls)].filter((name) => name !== 'settings').sort();
    calls = [];
    feed.down();
    expect(link()).toBe('offline');
    feed.up();
    await settle();
    expect([...new Set(calls)].sort()).toEqual(first);
    expect([link(), open.stores.connection.get().reconnects, notices()]).toEqual(['live', 1, ['Connected again']]);
  });

  it('lags when even the freshest price of a second is late', async () => {
    await enter();
    open.stores.market.want([1]);
    const deliverTick = (late: number) => {
      feed.deliver('tick.1', 9, tick({ dateTime: clock.now() - late }));
      clock.advance(1_000);
    };
    deliverTick(50);
    expect(link()).toBe('live');
    deliverTick(60 + LAGGING_AFTER_MS);
    expect(link()).toBe('lagging');
    deliverTick(50);
    expect([link(), open.stores.connection.get().delayMs]).toEqual(['live', 0]);
  });

  it('raises notices of manual fills, and of fills of strategies only where the settings want them', async () => {
    await enter();
    const filled = { filledQuantity: 10, avgPrice: 272.5 };
    feed.deliver('order.>', 5, order(filled));
    feed.deliver('order.>', 6, order({ ...filled, id: 2, intId: 'M-1', source: 'STRATEGY', side: 'SELL' }));
    feed.deliver('transaction.>', 7, transaction({ intOrderId: 'A-1', price: 272.5 }));
    expect(notices()).toEqual(['Bought 10 #1 at 272.50']);
    open.stores.settings.update((settings) => ({ ...settings, notify: { ...settings.notify, strategyFills: true } }));
    feed.deliver('order.>', 8, order({ ...filled, id: 3, intId: 'M-2', source: 'STRATEGY', side: 'SELL' }));
    expect(notices()[0]).toBe('Sold 10 #1 at 272.50 on average');
  });

  it('raises one notice for the fills of an order, each at its own price', async () => {
    await enter();
    const details = () => open.stores.notifications.all.get().map(({ title, detail }) => `${title} | ${detail}`);
    feed.deliver('order.>', 5, order({ filledQuantity: 6, avgPrice: 272, quantity: 10 }));
    feed.deliver('transaction.>', 6, transaction({ id: 1, intOrderId: 'A-1', quantity: 6, price: 272 }));
    expect(details()).toEqual(['Bought 6 #1 at 272.00 | Order A-1: 6 of 10 filled']);
    feed.deliver('transaction.>', 7, transaction({ id: 2, intOrderId: 'A-1', quantity: 4, price: 272.5 }));
    feed.deliver('order.>', 8, order({ filledQuantity: 10, avgPrice: 272.2, quantity: 10 }));
    expect(details()).toEqual(['Bought 10 #1 at 272.20 on average | Order A-1: 10 of 10 filled, last 4 at 272.50']);
  });

  it('counts the rejects of a strategy in one notice, and spares who looks at another', async () => {
    await enter();
    const rejected = { status: 'REJECTED' as const, source: 'STRATEGY', strategyId: 3, reason: 'no' };
    feed.deliver('order.>', 5, order({ ...rejected, id: 5, intId: 'M-1' }));
    feed.deliver('order.>', 6, order({ ...rejected, id: 6, intId: 'M-2' }));
    expect(notices()).toEqual(['Rejected orders of #3: 2']);
    open.stores.selection.strategyId.set(1);
    feed.deliver('order.>', 7, order({ ...rejected, id: 7, intId: 'M-3' }));
    feed.deliver('order.>', 8, order({ ...rejected, id: 8, intId: 'R-1', source: 'REST' }));
    expect(notices()).toEqual(['Order rejected: Buy 100 #1', 'Rejected orders of #3: 2']);
  });

  it('keeps no notices of one user for the next', async () => {
    await enter();
    feed.deliver('order.>', 5, order({ filledQuantity: 10, avgPrice: 272.5 }));
    expect(notices().length).toBe(1);
    open.access.expire();
    expect(notices()).toEqual([]);
  });

  it('raises one notice for a message that it cannot decode', async () => {
    await enter();
    feed.deliver('order.>', 5, { no: 'order' });
    feed.deliver('order.>', 6, { no: 'order' });
    expect(notices()).toEqual(['Something could not be read']);
  });

  it('keeps what was chosen on the server, and what is looked at in this browser', async () => {
    await enter();
    open.stores.settings.update((settings) => ({ ...settings, theme: 'light', confirmFrom: null }));
    open.stores.selection.strategyId.set(3);
    clock.advance(WRITE_AFTER_MS);
    await settle();
    const { theme, confirmFrom } = stored['settings'] as Settings;
    expect([theme, confirmFrom, memory.get('user.anna.strategy')]).toEqual(['light', null, 3]);
  });

  it('has the settings of the server, and defaults for what makes no sense', async () => {
    stored = { settings: { theme: 'pink', locale: 'not a locale!', confirmFrom: -1, language: 'fr', palette: 'colour-blind' } };
    await enter();
    expect(open.stores.settings.get()).toMatchObject({ theme: 'system', locale: '', confirmFrom: 100_000, language: 'en', palette: 'colour-blind' });
    expect(calls).not.toContain('keepSettings');
  });

  it('writes the last changes before a logout, and shows the next user nothing of them', async () => {
    await enter();
    open.stores.settings.update((settings) => ({ ...settings, theme: 'dark' }));
    open.stores.selection.strategyId.set(3);
    await open.access.logout();
    expect((stored['settings'] as Settings).theme).toBe('dark');
    expect([open.stores.settings.get().theme, open.stores.selection.strategyId.get(), open.stores.memory.isReady.get()]).toEqual(['system', null, false]);
  });
});
