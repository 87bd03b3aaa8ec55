/** Value objects of reference data: securities, exchanges, accounts, adapters and strategies. */

import { type Decoded, flag, list, maybe, number, object, oneOf, optional, text, textsByKey } from '../decode';
import { maybeText, maybeNumber, phase, sessionState, lineKind, openFor, orderMode, securityKind, venueProof } from './names';

export const account = object({
  id: number,
  name: text,
  active: flag,
  adapterType: text,
  broker: text,
  sessionQualifier: maybeText,
  extAccount: maybeText,
  extAccountGroup: maybeText,
  extAllocationProfile: maybeText,
  extClearingAccount: maybeText,
});
export type AccountVO = Decoded<typeof account>;

export const line = object({
  line: lineKind,
  up: flag,
  /** When it came up or went down. */
  since: maybeNumber,
  lastHeard: maybeNumber,
  /** Why it is down. */
  reason: maybeText,
});
export type LineVO = Decoded<typeof line>;

/** A line to a venue, and what the venue offers. */
export const adapter = object({
  name: text,
  adapterType: text,
  sessionQualifier: maybeText,
  state: sessionState,
  simulated: flag,
  orders: orderMode,
  proof: venueProof,
  exchangeIds: list(number),
  orderProperties: list(text),
  replace: text,
  cancel: text,
  lines: list(line),
  openFor: openFor,
});
export type AdapterVO = Decoded<typeof adapter>;

export const exchange = object({
  id: number,
  name: text,
  code: text,
  mic: maybeText,
  bloombergCode: maybeText,
  timeZone: text,
  tradingHours: list(object({ open: text, close: text, days: list(number) })),
  holidays: list(object({ date: text, open: maybeText, close: maybeText })),
});
export type ExchangeVO = Decoded<typeof exchange>;

export const securityFamily = object({
  id: number,
  name: text,
  symbolRoot: maybeText,
  isinRoot: maybeText,
  ricRoot: maybeText,
  currency: text,
  contractSize: number,
  priceIncr: maybeNumber,
  underlyingId: maybeNumber,
  exchangeId: maybeNumber,
  executionCommission: maybeNumber,
  clearingCommission: maybeNumber,
  fee: maybeNumber,
  settlement: maybe(oneOf('CASH', 'PHYSICAL')),
});
export type SecurityFamilyVO = Decoded<typeof securityFamily>;

export const security = object({
  id: number,
  objectType: securityKind,
  symbol: text,
  description: maybeText,
  isin: maybeText,
  bbgid: maybeText,
  ric: maybeText,
  conid: maybeText,
  adapterTicker: maybeText,
  underlyingId: maybeNumber,
  securityFamilyId: number,
  exchangeId: number,
  currency: text,
  contractSize: number,
  minQty: maybeNumber,
  maxQty: maybeNumber,
  qtyIncr: maybeNumber,
  minPrice: maybeNumber,
  maxPrice: maybeNumber,
  priceIncr: maybeNumber,
  minNotional: maybeNumber,
  tradeable: flag,
  venueSymbols: textsByKey,
  /** Forex. */
  baseCurrency: optional(text),
  transactionCurrency: optional(text),
  /** Future, Option. */
  expiration: optional(maybeText),
  monthYear: optional(maybeText),
  firstNotice: optional(maybeText),
  strike: optional(number),
  optionType: optional(oneOf('CALL', 'PUT')),
  /** Bond. */
  maturity: optional(maybeText),
  coupon: optional(maybeNumber),
  couponFrequency: optional(maybeNumber),
});
export type SecurityVO = Decoded<typeof security>;

export const securityChange = object({
  sequence: number,
  securityId: number,
  /** As it is now; `null` where it was removed. */
  security: maybe(security),
});
export type SecurityChangeVO = Decoded<typeof securityChange>;

export const strategy = object({
  id: number,
  name: text,
  autoActivate: flag,
  phase: maybe(phase),
  /** Why it was stopped, until it begins again. */
  lastError: maybeText,
});
export type StrategyVO = Decoded<typeof strategy>;
