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

/** Limits that are a number, in the order of the form. */
export const amountLimits = {
  maxOrderQuantity: maybeNumber,
  maxOrderNotional: maybeNumber,
  priceCollarPercent: maybeNumber,
  staleAfterSeconds: maybeNumber,
  maxOpenOrders: maybeNumber,
  maxOpenNotional: maybeNumber,
  maxLong: maybeNumber,
  maxShort: maybeNumber,
  maxGrossExposure: maybeNumber,
  ordersPerSecond: maybeNumber,
  messagesPerSecond: maybeNumber,
  maxDayLoss: maybeNumber,
  maxDrawdown: maybeNumber,
  breakLimit: maybeNumber,
};

/** Limits that are a count within a time, in the order of the form. */
export const countLimits = {
  duplicateGuard: maybe(countWithin),
  rejectBreaker: maybe(countWithin),
  executionBreaker: maybe(countWithin),
};

export const limits = object({
  scope: text,
  ...amountLimits,
  ...countLimits,
  cashCheck: maybe(flag),
  selfTrade: maybeText,
  /** Ids of securities in which only cancels are allowed. */
  restrictedSecurities: maybe(list(number)),
});
export type LimitsVO = Decoded<typeof limits>;

/** Unless it is renewed in time, the kill switch of its scope fires. */
export const deadManTimer = object({ scope: text, seconds: number, expires: number, renewedBy: maybeText });
export type DeadManTimerVO = Decoded<typeof deadManTimer>;

export const killed = object({ scope: text, cancels: number });
export type KilledVO = Decoded<typeof killed>;
