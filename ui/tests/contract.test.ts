/** The screen reads the same golden files that the server writes, so that neither drifts alone. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Decoder, decode } from '../src/wire/decode';
import * as decoders from '../src/wire/decoders';

const CONTRACT = resolve(dirname(fileURLToPath(import.meta.url)), '../../contract/json');

const READ: Record<string, Decoder<unknown>> = {
  AccountVO: decoders.account,
  AdapterVO: decoders.adapter,
  AuditVO: decoders.audit,
  Bar: decoders.bar,
  BreakVO: decoders.breakVo,
  CashBalanceVO: decoders.cashBalance,
  ClusterOverviewVO: decoders.clusterOverview,
  DeadManTimerVO: decoders.deadManTimer,
  ExchangeVO: decoders.exchange,
  FillVO: decoders.fill,
  FixSessionVO: decoders.fixSession,
  GenericEvent: decoders.generic,
  Health: decoders.health,
  IdentityVO: decoders.identity,
  ImportedVO: decoders.imported,
  KilledVO: decoders.killed,
  LifeCycleEvent: decoders.lifeCycle,
  LimitsVO: decoders.limits,
  LogEvent: decoders.logEvent,
  NewTokenVO: decoders.newToken,
  OrderBook: decoders.orderBook,
  OrderStatusVO: decoders.orderStatus,
  OrderVO: decoders.order,
  PastEvent: decoders.pastEvent,
  PortfolioValueVO: decoders.portfolioValue,
  PositionVO: decoders.position,
  Problem: decoders.problem,
  SecurityChangeVO: decoders.securityChange,
  SecurityFamilyVO: decoders.securityFamily,
  SecurityVO: decoders.security,
  SessionEvent: decoders.session,
  StrategyVO: decoders.strategy,
  SubscriptionVO: decoders.subscription,
  Tick: decoders.tick,
  TokenVO: decoders.token,
  Trade: decoders.trade,
  TradingState: decoders.tradingState,
  TransactionVO: decoders.transaction,
  UserVO: decoders.user,
  ValueHistoryVO: decoders.valueHistory,
  VerdictVO: decoders.verdict,
};

/** What clients send, in the many ways that the server takes; the screen never reads them. */
const SENT = ['LimitOrderVO', 'MarketOrderVO', 'StopLimitOrderVO', 'StopOrderVO'];

const files = readdirSync(CONTRACT).map((name) => name.replace('.json', ''));

function golden(name: string): unknown[] {
  const value: unknown = JSON.parse(readFileSync(resolve(CONTRACT, `${name}.json`), 'utf8'));
  return Array.isArray(value) ? value : [value];
}

describe('the contract', () => {
  it('has no file that the screen does not know', () => {
    expect([...Object.keys(READ), ...SENT].sort()).toEqual(files.sort());
  });

  it.each(Object.entries(READ))('%s is read whole', (name, decoder) => {
    for (const value of golden(name)) expect(decode(decoder, value)).toEqual(value);
  });

  it.each(Object.entries(READ))('%s with a key missing is refused, and the key named', (name, decoder) => {
    const [value] = golden(name) as [Record<string, unknown>];
    const [key] = Object.keys(value) as [string];
    const { [key]: _, ...rest } = value;
    expect(() => decode(decoder, rest)).toThrow(key);
  });
});

describe('a value that is not what it should be', () => {
  it('is refused with its place', () => {
    const [book] = golden('OrderBook') as [{ bids: object[] }];
    const broken = { ...book, bids: [...book.bids, { price: '272', quantity: 1 }] };
    expect(() => decode(decoders.orderBook, broken)).toThrow('bids[2].price should be a number, and is "272"');
  });

  it('is refused where a name is not known', () => {
    const [order] = golden('OrderVO') as [object];
    const broken = { ...order, status: 'LOST' };
    expect(() => decode(decoders.order, broken)).toThrow('status should be one of OPEN, SUBMITTED');
  });
});
