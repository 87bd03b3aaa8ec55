/** Value objects with the fields that a test does not care about. */

import type { BreakVO, OrderVO, PortfolioValueVO, Tick, TransactionVO } from '../../src/wire/types';

export function order(change: Partial<OrderVO> = {}): OrderVO {
  return {
    objectType: 'LimitOrder',
    id: 1,
    intId: 'A-1',
    extId: null,
    clOrdId: null,
    dateTime: 1_794_839_400_000,
    side: 'BUY',
    quantity: 100,
    tif: 'DAY',
    tifDateTime: null,
    exchangeOrder: false,
    exchangeId: 1,
    securityId: 1,
    accountId: 1,
    strategyId: 1,
    status: 'SUBMITTED',
    filledQuantity: 0,
    remainingQuantity: 100,
    avgPrice: null,
    reason: null,
    inDoubt: false,
    reference: null,
    source: 'UI',
    submittedBy: null,
    limit: 272,
    ...change,
  };
}

export function tick(change: Partial<Tick> = {}): Tick {
  return {
    objectType: 'Tick',
    securityId: 1,
    feed: 'SIMULATED',
    dateTime: 1_794_839_400_000,
    last: 272,
    lastDateTime: 1_794_839_400_000,
    volLast: 1,
    bid: 271.9,
    ask: 272.1,
    volBid: 10,
    volAsk: 10,
    vol: 100,
    stale: null,
    ...change,
  };
}

export function value(change: Partial<PortfolioValueVO> = {}): PortfolioValueVO {
  return {
    strategyId: 1,
    dateTime: 1_794_839_400_000,
    netLiqValue: 1_000,
    marketValue: 100,
    cashBalance: 900,
    realizedPL: 5,
    unrealizedPL: -2,
    commissions: 0.5,
    fees: 0.1,
    openPositions: 1,
    currency: 'USD',
    ...change,
  };
}

export function transaction(change: Partial<TransactionVO> = {}): TransactionVO {
  return {
    id: 1,
    uuid: '00000000-0000-8001-8000-000000000001',
    dateTime: 1_794_839_400_000,
    settlementDate: null,
    extId: 'E-1',
    intOrderId: 'A-1',
    extOrderId: null,
    type: 'BUY',
    quantity: 10,
    price: 272,
    executionCommission: null,
    clearingCommission: null,
    fee: null,
    currency: 'USD',
    accountId: 1,
    securityId: 1,
    strategyId: 1,
    description: null,
    charges: [],
    venueKind: null,
    liquidity: null,
    ...change,
  };
}

/** A break that was found at 08:39:12. */
export function found(change: Partial<BreakVO> = {}): BreakVO {
  return {
    id: 'B1',
    kind: 'CASH',
    state: 'OPEN',
    adapter: 'SIMULATED-ALPHA',
    account: 'SIM',
    security: null,
    intOrderId: null,
    extOrderId: null,
    currency: null,
    ours: { total: '10' },
    theirs: { total: '9' },
    difference: '-1',
    value: '1',
    evidence: { report: 'USD 9', sequence: 7, hash: 'abc' },
    since: '2026-11-16T08:39:12Z',
    changedAt: '2026-11-16T08:39:12Z',
    changedBy: null,
    comment: null,
    repair: null,
    ...change,
  };
}
