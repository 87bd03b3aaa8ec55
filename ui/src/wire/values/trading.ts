/** Value objects of trading: orders, their events, transactions, positions, portfolio values and breaks. */

import { type Decoded, flag, list, maybe, number, object, oneOf, optional, text, textsByKey } from '../decode';
import {
  type OrderKind,
  type Side,
  type TimeInForce,
  breakKind,
  breakState,
  legState,
  maybeNumber,
  maybeText,
  orderKind,
  orderStatusName,
  side,
  tif,
  transactionType,
} from './names';

const leg = object({ extId: text, state: legState, quantity: number, filledQuantity: number });

export const order = object({
  objectType: orderKind,
  id: number,
  intId: text,
  extId: maybeText,
  clOrdId: maybeText,
  dateTime: number,
  side,
  quantity: number,
  tif,
  tifDateTime: maybeNumber,
  exchangeOrder: flag,
  exchangeId: number,
  securityId: number,
  accountId: number,
  strategyId: number,
  status: orderStatusName,
  filledQuantity: number,
  remainingQuantity: number,
  avgPrice: maybeNumber,
  reason: maybeText,
  inDoubt: flag,
  reference: maybeText,
  source: text,
  submittedBy: maybeText,
  limit: optional(number),
  stop: optional(number),
  postOnly: optional(flag),
  displayQuantity: optional(number),
  minQuantity: optional(number),
  reduceOnly: optional(flag),
  legs: optional(list(leg)),
});
export type OrderVO = Decoded<typeof order>;

export const orderStatus = object({
  intId: text,
  extId: maybeText,
  orderId: number,
  strategyId: number,
  dateTime: number,
  extDateTime: maybeNumber,
  sequenceNumber: number,
  status: orderStatusName,
  filledQuantity: number,
  remainingQuantity: number,
  lastQuantity: maybeNumber,
  lastPrice: maybeNumber,
  avgPrice: maybeNumber,
  reason: maybeText,
});
export type OrderStatusVO = Decoded<typeof orderStatus>;

export const fill = object({
  orderIntId: text,
  extId: text,
  dateTime: number,
  extDateTime: maybeNumber,
  sequenceNumber: number,
  side,
  quantity: number,
  price: number,
  liquidity: maybeText,
});
export type FillVO = Decoded<typeof fill>;

export const position = object({
  id: number,
  strategyId: number,
  securityId: number,
  accountId: number,
  quantity: number,
  cost: number,
  avgPrice: maybeNumber,
  /** Before costs, like the unrealised. */
  realizedPL: number,
  unrealizedPL: maybeNumber,
  commissions: number,
  fees: number,
  marketPrice: maybeNumber,
  marketValue: maybeNumber,
  currency: text,
});
export type PositionVO = Decoded<typeof position>;

/** What a fill cost in another currency than its own. */
export const charge = object({
  amount: number,
  currency: text,
  kind: oneOf('EXECUTION_COMMISSION', 'CLEARING_COMMISSION', 'FEE'),
});
export type ChargeVO = Decoded<typeof charge>;

export const transaction = object({
  id: number,
  uuid: text,
  dateTime: number,
  settlementDate: maybeText,
  extId: maybeText,
  intOrderId: maybeText,
  extOrderId: maybeText,
  type: transactionType,
  quantity: number,
  price: number,
  executionCommission: maybeNumber,
  clearingCommission: maybeNumber,
  fee: maybeNumber,
  currency: text,
  accountId: number,
  securityId: maybeNumber,
  strategyId: number,
  description: maybeText,
  charges: list(charge),
  /** What the venue calls an entry of its own: FUNDING, DUST … */
  venueKind: maybeText,
  liquidity: maybeText,
});
export type TransactionVO = Decoded<typeof transaction>;

export const cashBalance = object({
  id: number,
  strategyId: number,
  accountId: number,
  currency: text,
  amount: number,
  /** What the venue holds for the whole account, by its last statement. */
  venueTotal: maybeNumber,
  venueLocked: maybeNumber,
});
export type CashBalanceVO = Decoded<typeof cashBalance>;

/** A value that needs a missing exchange rate is `null`. */
export const portfolioValue = object({
  strategyId: number,
  dateTime: number,
  netLiqValue: maybeNumber,
  marketValue: maybeNumber,
  cashBalance: maybeNumber,
  /** Before costs, like the unrealised. */
  realizedPL: maybeNumber,
  unrealizedPL: maybeNumber,
  commissions: maybeNumber,
  fees: maybeNumber,
  openPositions: number,
  currency: text,
});
export type PortfolioValueVO = Decoded<typeof portfolioValue>;

/** What a scope was worth at a sample, or at the end of a day, week or month. */
export const valueHistory = object({
  sequence: number,
  dateTime: number,
  /** The platform day; of a week its Monday, of a month its first day. */
  date: text,
  scope: text,
  close: flag,
  netLiqValue: maybeNumber,
  marketValue: maybeNumber,
  cashBalance: maybeNumber,
  longExposure: maybeNumber,
  shortExposure: maybeNumber,
  realizedPL: maybeNumber,
  unrealizedPL: maybeNumber,
  commissions: maybeNumber,
  fees: maybeNumber,
  /** After costs, without money paid in or out. */
  result: maybeNumber,
  flow: maybeNumber,
  drawdown: maybeNumber,
  currency: text,
});
export type ValueHistoryVO = Decoded<typeof valueHistory>;

/** The dry run of an order. */
export const verdict = object({
  accepted: flag,
  code: maybeText,
  field: maybeText,
  reason: maybeText,
  notional: maybeNumber,
  fee: maybeNumber,
});
export type VerdictVO = Decoded<typeof verdict>;

/** A difference between us and a venue; amounts and instants are texts. */
export const breakVo = object({
  id: text,
  kind: breakKind,
  state: breakState,
  adapter: text,
  account: maybeText,
  security: maybeText,
  intOrderId: maybeText,
  extOrderId: maybeText,
  currency: maybeText,
  ours: maybe(textsByKey),
  theirs: maybe(textsByKey),
  difference: maybeText,
  value: maybeText,
  evidence: object({ report: text, sequence: number, hash: text }),
  since: text,
  changedAt: text,
  changedBy: maybeText,
  comment: maybeText,
  repair: maybeText,
});
export type BreakVO = Decoded<typeof breakVo>;

/** What the screen sends to place, check or change an order. Left out means: the server's default, or unchanged. */
export interface OrderBody {
  objectType: OrderKind;
  intId?: string;
  securityId: number;
  accountId?: number;
  strategyId?: number;
  exchangeId?: number;
  side: Side;
  /** A text where the user typed something that is no number: the server's error names the fault. */
  quantity?: number | string;
  limit?: number | string;
  stop?: number | string;
  tif?: TimeInForce;
  /** Epoch milliseconds, or a date for the close of that day. */
  tifDateTime?: number | string;
  exchangeOrder?: boolean;
  reference?: string;
  postOnly?: boolean;
  displayQuantity?: number | string;
  minQuantity?: number | string;
  reduceOnly?: boolean;
}
