/** Value objects of market data. */

import type { BarSize, Side } from './names';

export interface Tick {
  objectType: 'Tick';
  securityId: number;
  feed: string;
  dateTime: number;
  last: number | null;
  lastDateTime: number | null;
  volLast: number | null;
  bid: number | null;
  ask: number | null;
  volBid: number | null;
  volAsk: number | null;
  vol: number | null;
}

export interface Trade {
  objectType: 'Trade';
  securityId: number;
  feed: string;
  dateTime: number;
  price: number;
  quantity: number;
  aggressorSide: Side | null;
  extId: string | null;
}

export interface Bar {
  objectType: 'Bar';
  securityId: number;
  feed: string;
  /** When the bar began. */
  dateTime: number;
  barSize: BarSize;
  open: number;
  high: number;
  low: number;
  close: number;
  vol: number;
  vwap: number | null;
}

export interface BookLevel {
  price: number;
  quantity: number;
}

export interface OrderBook {
  objectType: 'OrderBook';
  securityId: number;
  feed: string;
  dateTime: number;
  /** Best first. */
  bids: BookLevel[];
  asks: BookLevel[];
}

export interface SubscriptionVO {
  strategyName: string;
  securityId: number;
  subscribe: boolean;
}
