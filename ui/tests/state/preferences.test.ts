/** Preferences: watch list, layout and settings, kept on the server for each user; this browser has a copy. */

import { beforeEach, describe, expect, it } from 'vitest';
import { LOAD_TIMEOUT_MS, Preferences, RETRY_AFTER_MS, WRITE_AFTER_MS } from '../../src/state/preferences';
import { WireError } from '../../src/wire/error';
import { Later, settle, VirtualClock } from '../virtual';

type Document = Record<string, unknown>;

let clock: VirtualClock;
let browser: Map<string, unknown>;
/** The server's preferences of the current user. */
let stored: { tag: number; value: Document };
let isAway: boolean;
let calls: string[];
let refused: string[];
let preferences: Preferences;

const server = {
  async settings() {
    calls.push('read');
    if (isAway) throw WireError.unreachable();
    return { tag: `"${stored.tag}"`, value: stored.value };
  },
  async keepSettings(document: Document, tag: string) {
    calls.push(`write ${tag}`);
    if (isAway) throw WireError.unreachable();
    if (tag !== `"${stored.tag}"`) throw new WireError(412, 'settings-changed', 'changed meanwhile');
    if (JSON.stringify(document).length > 200) throw new WireError(413, 'settings-too-large', 'too large');
    stored = { tag: stored.tag + 1, value: structuredClone(document) };
    return `"${stored.tag}"`;
  },
};

const memory = { read: (key: string) => browser.get(key) ?? null, write: (key: string, value: unknown) => void browser.set(key, structuredClone(value)) };

function openTab(): Preferences {
  return new Preferences({ server, clock, browser: memory, onRefused: (error) => refused.push(String(error)) });
}

async function rest(ms = WRITE_AFTER_MS): Promise<void> {
  clock.advance(ms);
  await settle();
}

async function enter(user: string | null): Promise<void> {
  preferences.enter(user);
  await settle();
}

beforeEach(() => {
  [clock, browser, isAway, calls, refused] = [new VirtualClock(), new Map(), false, [], []];
  stored = { tag: 4, value: { watchlist: [3, 1] } };
  preferences = openTab();
});

describe('what a user arranged', () => {
  it('comes from the server, and the copy of this browser gives way to it', async () => {
    memory.write('user.anna.document', { document: { watchlist: [9], layout: 'old' }, dirty: [] });
    await enter('anna');
    expect([preferences.read('watchlist'), preferences.read('layout'), preferences.isReady.get()]).toEqual([[3, 1], null, true]);
  });

  it('is written when it has rested, once, and only where it changed', async () => {
    await enter('anna');
    preferences.write('watchlist', [3, 1]);
    await rest();
    preferences.write('watchlist', [7, 3, 1]);
    await rest(WRITE_AFTER_MS - 1);
    preferences.write('layout', 'wide');
    await rest(WRITE_AFTER_MS - 1);
    expect(calls).toEqual(['read']);
    await rest(1);
    expect([calls, stored]).toEqual([['read', 'write "4"'], { tag: 5, value: { watchlist: [7, 3, 1], layout: 'wide' } }]);
    preferences.write('layout', 'narrow');
    await rest();
    expect([calls.at(-1), stored.value['layout']]).toEqual(['write "5"', 'narrow']);
  });

  it('is merged by key with what was changed elsewhere, and watchers are notified of that', async () => {
    await enter('anna');
    const received: unknown[] = [];
    preferences.watch('watchlist', (value) => received.push(value));
    preferences.watch('layout', (value) => received.push(value));
    stored = { tag: 5, value: { watchlist: [8], theme: 'dark' } };
    preferences.write('layout', 'wide');
    await rest();
    await rest(0);
    expect(calls).toEqual(['read', 'write "4"', 'read', 'write "5"']);
    expect([stored.value, received]).toEqual([{ watchlist: [8], theme: 'dark', layout: 'wide' }, [[8]]]);
  });

  it('is seen by its user alone', async () => {
    await enter('anna');
    preferences.write('layout', 'of anna');
    preferences.here().write('security', 7);
    await preferences.flush();
    const received: unknown[] = [];
    preferences.watch('watchlist', (value) => received.push(value));
    preferences.leave();
    const afterLogout = [preferences.read('watchlist'), preferences.read('layout'), preferences.here().read('security'), preferences.isReady.get()];
    expect([afterLogout, received, openTab().read('layout')]).toEqual([[null, null, null, false], [null], null]);
    stored = { tag: 0, value: {} };
    await enter('bert');
    expect([preferences.read('watchlist'), preferences.read('layout'), preferences.here().read('security')]).toEqual([null, null, null]);
    await rest(RETRY_AFTER_MS);
    expect(stored).toEqual({ tag: 0, value: {} });
  });

  it('of one who goes is written to the end: what was held back, and what changed while an earlier change was being written', async () => {
    await enter('anna');
    preferences.write('watchlist', [1]);
    preferences.beforeFlush(() => preferences.write('layout', 'held back'));
    clock.advance(WRITE_AFTER_MS);
    preferences.write('watchlist', [1, 2]);
    await preferences.flush();
    expect(stored.value).toEqual({ watchlist: [1, 2], layout: 'held back' });
  });

  it('a reply that comes after the logout does not change the next user', async () => {
    const late = new Later<{ tag: string; value: Document }>();
    const answers = [late.promise, Promise.resolve({ tag: '"0"', value: {} })];
    const slow = { ...server, settings: () => answers.shift() ?? expect.fail('asked too often') };
    preferences = new Preferences({ server: slow, clock, browser: memory, onRefused: () => undefined });
    preferences.enter('anna');
    preferences.leave();
    await enter('bert');
    late.resolve({ tag: '"4"', value: { watchlist: [3, 1] } });
    await settle();
    expect([preferences.read('watchlist'), browser.get('user.bert.document')]).toEqual([null, { document: {}, dirty: [] }]);
  });

  it('opens from the copy where the server cannot answer, and goes to the server when it can', async () => {
    memory.write('local.document', { document: { watchlist: [9] }, dirty: [] });
    isAway = true;
    await enter(null);
    expect([preferences.isReady.get(), preferences.read('watchlist')]).toEqual([true, [9]]);
    preferences.write('layout', 'wide');
    await rest();
    isAway = false;
    await rest(RETRY_AFTER_MS);
    expect([preferences.read('watchlist'), stored.value]).toEqual([[3, 1], { watchlist: [3, 1], layout: 'wide' }]);
  });

  it('opens from the copy where the server takes too long', async () => {
    const late = new Later<{ tag: string; value: Document }>();
    preferences = new Preferences({ server: { ...server, settings: () => late.promise }, clock, browser: memory, onRefused: () => undefined });
    await enter('anna');
    clock.advance(LOAD_TIMEOUT_MS - 1);
    expect(preferences.isReady.get()).toBe(false);
    clock.advance(1);
    expect(preferences.isReady.get()).toBe(true);
    late.resolve({ tag: '"4"', value: { watchlist: [3, 1] } });
    await settle();
    expect(preferences.read('watchlist')).toEqual([3, 1]);
  });

  it('that was not written when the tab was closed is written when it is opened again', async () => {
    await enter('anna');
    preferences.write('layout', 'wide');
    preferences = openTab();
    expect(preferences.read('layout')).toBe('wide');
    await enter('anna');
    expect(stored.value).toEqual({ watchlist: [3, 1], layout: 'wide' });
  });

  it('that the server refuses stays here, is reported, and is tried again with the next change', async () => {
    await enter('anna');
    preferences.write('layout', 'x'.repeat(300));
    await rest();
    await rest(RETRY_AFTER_MS);
    expect([refused, preferences.read('layout')]).toEqual([['WireError: too large'], 'x'.repeat(300)]);
    preferences.write('layout', 'short');
    await rest();
    expect(stored.value['layout']).toBe('short');
  });
});
