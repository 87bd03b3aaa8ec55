/** What was recorded, as the history and replays give it; and the problem that a refused request is answered with. */

import { type Decoded, type Decoder, list, nothing, number, object, oneOf, optional, record, text } from '../decode';
import { bar, orderBook, subscription, tick, trade } from './market';
import { generic, lifeCycle, logEvent, session } from './platform';
import { limits, tradingState } from './risk';
import {
  breakVo,
  cashBalance,
  fill,
  order,
  orderStatus,
  portfolioValue,
  position,
  transaction,
} from './trading';

/** The value object behind each `objectType` of the past; where it is nothing, that it changed is news enough. */
const PAST = {
  Tick: tick,
  Trade: trade,
  OrderBook: orderBook,
  Bar: bar,
  Order: order,
  OrderStatus: orderStatus,
  Fill: fill,
  Transaction: transaction,
  Position: position,
  CashBalance: cashBalance,
  PortfolioValue: portfolioValue,
  Subscription: subscription,
  LifeCycle: lifeCycle,
  Session: session,
  TradingState: tradingState,
  Break: breakVo,
  Limits: limits,
  LogEvent: logEvent,
  Generic: generic,
  Reference: nothing,
};

export type PastKinds = { [Kind in keyof typeof PAST]: Decoded<(typeof PAST)[Kind]> };

export type PastEvent = {
  [Kind in keyof PastKinds]: { sequence: number; dateTime: number; objectType: Kind; event: PastKinds[Kind] };
}[keyof PastKinds];

const pastKind = oneOf(...(Object.keys(PAST) as (keyof PastKinds)[]));

export const pastEvent: Decoder<PastEvent> = (value, path) => {
  const keyed = record(value, path);
  number(keyed['sequence'], `${path}.sequence`);
  number(keyed['dateTime'], `${path}.dateTime`);
  PAST[pastKind(keyed['objectType'], `${path}.objectType`)](keyed['event'], `${path}.event`);
  return value as PastEvent;
};

export const fieldError = object({ field: text, code: text, reason: text });
export type FieldError = Decoded<typeof fieldError>;

/** RFC 9457, as the server writes it. */
export const problem = object({
  type: text,
  title: text,
  status: number,
  detail: text,
  code: text,
  errors: optional(list(fieldError)),
  /** The live order, where an id was used twice. */
  order: optional(order),
});
export type Problem = Decoded<typeof problem>;
