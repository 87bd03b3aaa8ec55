/** Venues that are lost and come back, and the staleness of their prices. */

import { expect, test } from 'vitest';
import { MarketPrices } from '../../src/state/market';
import { Cell } from '../../src/state/readable';
import { SessionList } from '../../src/state/sessions';
import type { AccountVO, Health } from '../../src/wire/types';
import { settle, VirtualClock, VirtualFeed } from '../virtual';
import { tick } from './samples';

const account = (id: number, adapterType: string, sessionQualifier: string) =>
  ({ id, active: true, adapterType, sessionQualifier }) as AccountVO;
const health = (states: Record<string, string>): Health => ({
  status: 'UP',
  checks: Object.entries(states).map(([name, detail]) => ({ name: `adapter ${name}`, ok: true, detail })),
});

function sessionsWith(states: Record<string, string>) {
  const [feed, clock, reported] = [new VirtualFeed(), new VirtualClock(), [] as string[]];
  const accounts = new Cell<readonly AccountVO[]>([account(1, 'SIMULATED', 'ALPHA'), account(2, 'SIMULATED', 'BETA')]);
  const server = {
    health: () => Promise.resolve(health(states)),
    adapters: () => Promise.resolve([]),
    fixSessions: () => Promise.resolve([]),
    logoutFix: () => Promise.resolve(),
    resetFix: () => Promise.resolve(),
  };
  const onTrouble = (error: unknown) => expect.fail(String(error));
  const onVenue = (name: string, isAway: boolean) => reported.push(`${name} ${isAway ? 'away' : 'back'}`);
  const sessions = new SessionList({ feed, clock, server, accounts, onVenue, onTrouble });
  const deliver = (qualifier: string, state: string, adapter = 'SIMULATED') => {
    feed.deliver('session.>', 5, { dateTime: clock.now(), adapter, qualifier, state });
    clock.frame();
  };
  return { feed, clock, sessions, reported, deliver };
}

test('each venue of an account has a light, and a client that trades by FIX has none', async () => {
  const { feed, clock, sessions, reported, deliver } = sessionsWith({ 'SIMULATED-ALPHA': 'SUBSCRIBED', 'SIMULATED-BETA': 'DISCONNECTED', 'FIX-CLIENT1': 'DISCONNECTED' });
  feed.up();
  await sessions.load();
  clock.frame();
  await settle();
  const lights = () => sessions.venues.get().map(({ name, isAway }) => `${name}${isAway ? ' away' : ''}`);
  expect([lights(), reported]).toEqual([['ALPHA', 'BETA away'], ['BETA away']]);
  expect(sessions.adapters.get().map(({ qualifier }) => qualifier)).toEqual(['ALPHA', 'BETA']);
  deliver('BETA', 'SUBSCRIBED');
  deliver('ALPHA', 'DISCONNECTED');
  deliver('CLIENT1', 'DISCONNECTED', 'FIX');
  expect([lights(), reported.slice(1)]).toEqual([['ALPHA away', 'BETA'], ['BETA back', 'ALPHA away']]);
  expect([sessions.isAway('SIMULATED-ALPHA'), sessions.isAway('SIMULATED-BETA')]).toEqual([true, false]);
});

test('a venue that is away makes its own prices old, and no others', () => {
  const [feed, clock] = [new VirtualFeed(), new VirtualClock()];
  let away = 'SIMULATED-ALPHA';
  const nothing = () => Promise.resolve({ sequence: 1, value: [] });
  const server = { ticks: nothing, bars: nothing, subscribe: () => Promise.resolve() };
  const isAway = (name: string) => name === away;
  const onTrouble = (error: unknown) => expect.fail(String(error));
  const market = new MarketPrices({ feed, clock, server, mayTrade: () => true, isLive: () => true, isAway, onTick: () => undefined, onTrouble });
  market.want([1]);
  feed.deliver('tick.1', 9, tick({ feed: 'SIMULATED-BETA' }));
  const quote = market.quotes.row(1);
  const isOld = () => quote !== undefined && market.isStale(quote);
  expect(isOld()).toBe(false);
  away = 'SIMULATED-BETA';
  expect(isOld()).toBe(true);
});
