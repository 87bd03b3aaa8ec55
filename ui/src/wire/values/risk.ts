/** Value objects of risk: states, limits, the kill switch. */

import { type Decoded, flag, list, maybe, number, object, text } from '../decode';
import { maybeText, maybeNumber, tradingStateName } from './names';

export const tradingState = object({
  /** `PLATFORM`, `ACCOUNT-<id>`, `STRATEGY-<id>` or `SECURITY-<id>`. */
  scope: text,
  state: tradingStateName,
  dateTime: number,
  reason: maybeText,
  changedBy: maybeText,
});
export type TradingState = Decoded<typeof tradingState>;

export const countWithin = object({ count: number, millis: number });
export type CountWithin = Decoded<typeof countWithin>;

export const limits = object({
  scope: text,
  maxOrderQuantity: maybeNumber,
  maxOrderNotional: maybeNumber,
  priceCollarPercent: maybeNumber,
  staleAfterSeconds: maybeNumber,
  maxOpenOrders: maybeNumber,
  maxOpenNotional: maybeNumber,
  maxLong: maybeNumber,
  maxShort: maybeNumber,
  maxGrossExposure: maybeNumber,
  cashCheck: maybe(flag),
  ordersPerSecond: maybeNumber,
  duplicateGuard: maybe(countWithin),
  rejectBreaker: maybe(countWithin),
  maxDayLoss: maybeNumber,
  maxDrawdown: maybeNumber,
  selfTrade: maybeText,
  messagesPerSecond: maybeNumber,
  executionBreaker: maybe(countWithin),
  /** Ids of securities in which only cancels are allowed. */
  restrictedSecurities: maybe(list(number)),
});
export type LimitsVO = Decoded<typeof limits>;

/** Unless it is renewed in time, the kill switch of its scope fires. */
export const deadManTimer = object({ scope: text, seconds: number, expires: number, renewedBy: maybeText });
export type DeadManTimerVO = Decoded<typeof deadManTimer>;

export const killed = object({ scope: text, cancels: number });
export type KilledVO = Decoded<typeof killed>;
