import { describe, expect, it } from 'vitest';
import { clickName, CLICKED } from '../../src/features/common/clicks';
import { scopeName } from '../../src/features/risk/scopes';
import type { Reference } from '../../src/state/api';
import { ENGLISH, loadTexts } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';

describe('a click on a price', () => {
  it('buys at the ask and sells at the bid', () => {
    expect(CLICKED).toEqual({ ask: 'BUY', bid: 'SELL' });
  });

  it('says before what it does, and how much stands there', async () => {
    expect(clickName(ENGLISH, 'ask', '272.35', '300')).toBe('Buy @ 272.35, 300 offered');
    expect(clickName(ENGLISH, 'bid', '272.33', '2,100')).toBe('Sell @ 272.33, 2,100 bid');
    expect(clickName(await loadTexts('de'), 'bid', '272,33', null)).toBe('Verkaufen @ 272,33');
  });
});

it('a scope has the name of what it is about', () => {
  const reference = {
    accountName: (id: number) => `account ${id}`,
    strategyName: (id: number) => (id === 2 ? 'TREND' : `#${id}`),
    symbol: (id: number | null) => `symbol ${id}`,
  } as Reference;
  const names = ['PLATFORM', 'STRATEGY-2', 'STRATEGY-9', 'ACCOUNT-1', 'SECURITY-3'].map((scope) => scopeName(scope, reference));
  expect(names).toEqual(['PLATFORM', 'TREND', '#9', 'account 1', 'symbol 3']);
});

it('times have 24 hours, also where the language counts twelve', () => {
  const at = Date.UTC(2026, 10, 15, 19, 5, 9, 42);
  const { time, timeShort, timeExact } = formatsOf({ locale: 'en-US', timeZone: 'UTC' });
  expect([time(at), timeShort(at), timeExact(at)]).toEqual(['19:05:09', '19:05', '19:05:09.042']);
});
