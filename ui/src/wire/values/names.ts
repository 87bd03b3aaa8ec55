/** The names that value objects use for kinds and states. */

import { type Decoded, maybe, number, oneOf, text } from '../decode';

export const maybeText = maybe(text);
export const maybeNumber = maybe(number);

export const side = oneOf('BUY', 'SELL');
export type Side = Decoded<typeof side>;

export const orderKind = oneOf('MarketOrder', 'LimitOrder', 'StopOrder', 'StopLimitOrder');
export type OrderKind = Decoded<typeof orderKind>;

export const tif = oneOf('DAY', 'GTC', 'ATO', 'IOC', 'FOK', 'GTD', 'ATC');
export type TimeInForce = Decoded<typeof tif>;

export const orderStatusName = oneOf(
  'OPEN',
  'SUBMITTED',
  'PARTIALLY_EXECUTED',
  'EXECUTED',
  'CANCELED',
  'PENDING_CANCEL',
  'REJECTED',
  'PENDING_REPLACE',
);
export type OrderStatus = Decoded<typeof orderStatusName>;

export const barSize = oneOf('SEC_1', 'MIN_1', 'MIN_5', 'MIN_15', 'HOUR_1', 'DAY_1');
export type BarSize = Decoded<typeof barSize>;

export const role = oneOf('VIEWER', 'TRADER', 'STRATEGY', 'ADMIN');
export type Role = Decoded<typeof role>;

export const phase = oneOf('INIT', 'PREFEED', 'START', 'RUN', 'EXIT');
export type Phase = Decoded<typeof phase>;

export const tradingStateName = oneOf('ACTIVE', 'REDUCING', 'HALTED');
export type TradingStateName = Decoded<typeof tradingStateName>;

export const sessionState = oneOf('DISCONNECTED', 'CONNECTED', 'LOGGED_ON', 'SUBSCRIBED');
export type SessionState = Decoded<typeof sessionState>;

/** What of a venue fails apart: orders and their answers, the account's own stream, prices. */
export const lineKind = oneOf('TRADING', 'PRIVATE', 'PRICES');
export type LineKind = Decoded<typeof lineKind>;

/** Where the orders of a venue go: to it, to a simulated one at its prices, or to one that is part of the server. */
export const orderMode = oneOf('LIVE', 'PAPER', 'SIMULATED');
export type OrderMode = Decoded<typeof orderMode>;

/** What an adapter was proven against. */
export const venueProof = oneOf('OWN_VENUE', 'UNPROVEN', 'PROGRAM', 'LAB', 'VENUE');
export type VenueProof = Decoded<typeof venueProof>;

/** What a venue can be sent now; `REDUCE` leaves cancels and orders that reduce a position. */
export const openFor = oneOf('ORDERS', 'REDUCE', 'NOTHING');
export type OpenFor = Decoded<typeof openFor>;

export const logLevel = oneOf('ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE');
export type LogLevel = Decoded<typeof logLevel>;

export const securityKind = oneOf(
  'Stock',
  'Forex',
  'Future',
  'Option',
  'Index',
  'Bond',
  'Commodity',
  'Fund',
  'PerpetualSwap',
);
export type SecurityKind = Decoded<typeof securityKind>;

export const transactionType = oneOf(
  'BUY',
  'SELL',
  'EXPIRATION',
  'TRANSFER',
  'CREDIT',
  'DEBIT',
  'INTEREST_PAID',
  'INTEREST_RECEIVED',
  'DIVIDEND',
  'FEES',
  'REFUND',
);
export type TransactionType = Decoded<typeof transactionType>;

export const breakKind = oneOf('ORDER', 'TERMS', 'FILL', 'FEE', 'CASH', 'POSITION', 'EXTERNAL');
export type BreakKind = Decoded<typeof breakKind>;

export const legState = oneOf('LIVE', 'UNKNOWN', 'ENDED');

export const breakState = oneOf('OPEN', 'EXPLAINED', 'REPAIRED', 'ACCEPTED');
export type BreakState = Decoded<typeof breakState>;
