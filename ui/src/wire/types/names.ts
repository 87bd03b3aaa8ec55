/** The names that value objects use for kinds and states. */

export type Side = 'BUY' | 'SELL';
export type OrderKind = 'MarketOrder' | 'LimitOrder' | 'StopOrder' | 'StopLimitOrder';
export type TimeInForce = 'DAY' | 'GTC' | 'ATO' | 'IOC' | 'FOK' | 'GTD' | 'ATC';
export type OrderStatus =
  | 'OPEN'
  | 'SUBMITTED'
  | 'PARTIALLY_EXECUTED'
  | 'EXECUTED'
  | 'CANCELED'
  | 'PENDING_CANCEL'
  | 'REJECTED'
  | 'PENDING_REPLACE';
export type BarSize = 'SEC_1' | 'MIN_1' | 'MIN_5' | 'MIN_15' | 'HOUR_1' | 'DAY_1';
export type Role = 'VIEWER' | 'TRADER' | 'STRATEGY' | 'ADMIN';
export type Phase = 'INIT' | 'PREFEED' | 'START' | 'RUN' | 'EXIT';
export type TradingStateName = 'ACTIVE' | 'REDUCING' | 'HALTED';
export type SessionState = 'DISCONNECTED' | 'CONNECTED' | 'LOGGED_ON' | 'SUBSCRIBED';
/** What of a venue fails apart: orders and their answers, the account's own stream, prices. */
export type LineKind = 'TRADING' | 'PRIVATE' | 'PRICES';
/** What a venue can be sent now; `REDUCE` leaves cancels and orders that reduce a position. */
export type OpenFor = 'ORDERS' | 'REDUCE' | 'NOTHING';
export type LogLevel = 'ERROR' | 'WARN' | 'INFO' | 'DEBUG' | 'TRACE';
export type SecurityKind =
  | 'Stock'
  | 'Forex'
  | 'Future'
  | 'Option'
  | 'Index'
  | 'Bond'
  | 'Commodity'
  | 'Fund'
  | 'PerpetualSwap';
export type TransactionType =
  | 'BUY'
  | 'SELL'
  | 'EXPIRATION'
  | 'TRANSFER'
  | 'CREDIT'
  | 'DEBIT'
  | 'INTEREST_PAID'
  | 'INTEREST_RECEIVED'
  | 'DIVIDEND'
  | 'FEES'
  | 'REFUND';
