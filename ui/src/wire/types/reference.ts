/** Value objects of reference data: securities, exchanges, accounts and strategies. */

import type { LineKind, OpenFor, Phase, SecurityKind, SessionState } from './names';

export interface AccountVO {
  id: number;
  name: string;
  active: boolean;
  adapterType: string;
  broker: string;
  sessionQualifier: string | null;
  extAccount: string | null;
  extAccountGroup: string | null;
  extAllocationProfile: string | null;
  extClearingAccount: string | null;
}

/** A line to a venue, and what the venue offers. */
export interface AdapterVO {
  name: string;
  adapterType: string;
  sessionQualifier: string | null;
  state: SessionState;
  simulated: boolean;
  exchangeIds: readonly number[];
  orderProperties: readonly string[];
  lines: readonly LineVO[];
  openFor: OpenFor;
}

export interface LineVO {
  line: LineKind;
  up: boolean;
  /** When it came up or went down. */
  since: number | null;
  lastHeard: number | null;
  /** Why it is down. */
  reason: string | null;
}

export interface TradingHours {
  open: string;
  close: string;
  days: number[];
}

export interface Holiday {
  date: string;
  open: string | null;
  close: string | null;
}

export interface ExchangeVO {
  id: number;
  name: string;
  code: string;
  mic: string | null;
  bloombergCode: string | null;
  timeZone: string;
  tradingHours: TradingHours[];
  holidays: Holiday[];
}

export interface SecurityFamilyVO {
  id: number;
  name: string;
  symbolRoot: string | null;
  isinRoot: string | null;
  ricRoot: string | null;
  currency: string;
  contractSize: number;
  priceIncr: number | null;
  underlyingId: number | null;
  exchangeId: number | null;
  executionCommission: number | null;
  clearingCommission: number | null;
  fee: number | null;
  settlement: 'CASH' | 'PHYSICAL' | null;
}

export interface SecurityVO {
  id: number;
  objectType: SecurityKind;
  symbol: string;
  description: string | null;
  isin: string | null;
  bbgid: string | null;
  ric: string | null;
  conid: string | null;
  adapterTicker: string | null;
  underlyingId: number | null;
  securityFamilyId: number;
  exchangeId: number;
  currency: string;
  contractSize: number;
  minQty: number | null;
  maxQty: number | null;
  qtyIncr: number | null;
  minPrice: number | null;
  maxPrice: number | null;
  priceIncr: number | null;
  minNotional: number | null;
  tradeable: boolean;
  venueSymbols: Record<string, string>;
  /** Forex. */
  baseCurrency?: string;
  transactionCurrency?: string;
  /** Future, Option. */
  expiration?: string | null;
  monthYear?: string | null;
  firstNotice?: string | null;
  strike?: number;
  optionType?: 'CALL' | 'PUT';
  /** Bond. */
  maturity?: string | null;
  coupon?: number | null;
  couponFrequency?: number | null;
}

export interface StrategyVO {
  id: number;
  name: string;
  autoActivate: boolean;
  phase: Phase | null;
  /** Why it was stopped, until it begins again. */
  lastError: string | null;
}
