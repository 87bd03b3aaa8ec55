/** Loading securities: the first time the list by pages, then only changes, also where the server has forgotten the oldest. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WireError } from '../src/wire/error';
import type { Rest } from '../src/wire/rest';
import { Server } from '../src/wire/server';
import type { SecurityVO } from '../src/wire/types';

const [STOCK] = JSON.parse(readFileSync(new URL('../../contract/json/SecurityVO.json', import.meta.url), 'utf8')) as [SecurityVO];
const PAGE = 2;
const LISTED = [1, 2, 3, 5, 8];
const FORGOTTEN_THROUGH = 10;
const LAST = 40;

/** Knows changes after sequence 10 only; security 3 is removed while the list is loaded. */
function serverThatForgot() {
  const calls: string[] = [];
  const answer = (path: string): { sequence: number; value: unknown[] } => {
    calls.push(path.replace(/limit=\d+&/, ''));
    const after = Number(new URL(path, 'http://host').searchParams.get('after'));
    if (path.startsWith('/rest/security?')) {
      const value = LISTED.filter((id) => id > after).slice(0, PAGE);
      return { sequence: calls.length === 1 ? 30 : LAST, value: value.map((id) => ({ ...STOCK, id })) };
    }
    if (after < FORGOTTEN_THROUGH) throw new WireError(410, 'changes-forgotten', 'load the list again');
    return { sequence: LAST, value: after < LAST ? [{ sequence: LAST, securityId: 3, security: null }] : [] };
  };
  const rest = { snapshot: async (path: string) => answer(path), get: async (path: string) => answer(path).value };
  return { server: new Server(rest as unknown as Rest), calls };
}

test('the first load is the list by pages, and what changed since its first page', async () => {
  const { server, calls } = serverThatForgot();
  const { sequence, value } = await server.securityChanges(0);
  expect(calls).toEqual([
    '/rest/security?after=0',
    '/rest/security?after=2',
    '/rest/security?after=5',
    '/rest/security?after=8',
    '/rest/security.changes?after=30',
    '/rest/security.changes?after=40',
  ]);
  expect(value.map((change) => [change.sequence, change.securityId, change.security?.id ?? null])).toEqual([
    ...LISTED.map((id) => [30, id, id]),
    [40, 3, null],
  ]);
  expect(sequence).toBe(LAST);
});

test('later only changes are loaded', async () => {
  const { server, calls } = serverThatForgot();
  expect(await server.securityChanges(30)).toEqual({ sequence: 40, value: [{ sequence: 40, securityId: 3, security: null }] });
  expect(calls).toEqual(['/rest/security.changes?after=30', '/rest/security.changes?after=40']);
});
