/** Value objects of market data. */

import { type Decoded, flag, list, maybe, number, object, oneOf, text } from '../decode';
import { maybeText, maybeNumber, side, barSize } from './names';

export const tick = object({
  objectType: oneOf('Tick'),
  securityId: number,
  feed: text,
  dateTime: number,
  last: maybeNumber,
  lastDateTime: maybeNumber,
  volLast: maybeNumber,
  bid: maybeNumber,
  ask: maybeNumber,
  volBid: maybeNumber,
  volAsk: maybeNumber,
  vol: maybeNumber,
  /** Why the prices may no longer be true. */
  stale: maybeText,
});
export type Tick = Decoded<typeof tick>;

export const trade = object({
  objectType: oneOf('Trade'),
  securityId: number,
  feed: text,
  dateTime: number,
  price: number,
  quantity: number,
  aggressorSide: maybe(side),
  extId: maybeText,
});
export type Trade = Decoded<typeof trade>;

export const bar = object({
  objectType: oneOf('Bar'),
  securityId: number,
  feed: text,
  /** When the bar began. */
  dateTime: number,
  barSize: barSize,
  open: number,
  high: number,
  low: number,
  close: number,
  vol: number,
  vwap: maybeNumber,
});
export type Bar = Decoded<typeof bar>;

export const bookLevel = object({ price: number, quantity: number });
export type BookLevel = Decoded<typeof bookLevel>;

export const orderBook = object({
  objectType: oneOf('OrderBook'),
  securityId: number,
  feed: text,
  dateTime: number,
  /** Best first. */
  bids: list(bookLevel),
  asks: list(bookLevel),
});
export type OrderBook = Decoded<typeof orderBook>;

export const subscription = object({ strategyName: text, securityId: number, subscribe: flag });
export type SubscriptionVO = Decoded<typeof subscription>;
