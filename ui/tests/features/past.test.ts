/** The slider over the past, and the state that is read for it. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { instantOf, SPANS, STEPS } from '../../src/features/past/moment';
import { Rest } from '../../src/wire/rest';
import { Server } from '../../src/wire/server';

const NOW = 1_795_003_200_000;
const vo = (name: string): unknown => JSON.parse(readFileSync(`../contract/json/${name}.json`, 'utf8'));

describe('the slider', () => {
  it('ends a moment ago and begins a span before', () => {
    expect(instantOf(STEPS, 'hour', NOW)).toBe(NOW - 2_000);
    expect(instantOf(0, 'day', NOW)).toBe(NOW - 2_000 - SPANS.day);
    expect(instantOf(STEPS / 2, 'week', NOW)).toBe(NOW - 2_000 - SPANS.week / 2);
  });

  it('never leaves its span, nor time itself', () => {
    expect(instantOf(STEPS + 5, 'hour', NOW)).toBe(NOW - 2_000);
    expect(instantOf(0, 'month', 1_000)).toBe(0);
  });
});

describe('a past state', () => {
  it('is of one sequence: the one that the instant means', async () => {
    const asked: string[] = [];
    const answers: Record<string, unknown> = {
      '/rest/execution/order': [],
      '/rest/position': [vo('PositionVO')],
      '/rest/portfolio/balance': [],
      '/rest/portfolio/value': [vo('PortfolioValueVO')],
    };
    const fetch = (path: string) => {
      asked.push(path);
      return Promise.resolve(new Response(JSON.stringify(answers[path.split('?')[0]!]), { headers: { 'rialto-sequence': '1087' } }));
    };
    const state = await new Server(new Rest(fetch)).pastState(NOW);
    expect(asked).toEqual([
      `/rest/execution/order?at=${NOW}`,
      '/rest/position?at=seq:1087',
      '/rest/portfolio/balance?at=seq:1087',
      '/rest/portfolio/value?at=seq:1087',
    ]);
    expect([state.sequence, state.positions.length, state.values.length]).toEqual([1087, 1, 1]);
  });
});
