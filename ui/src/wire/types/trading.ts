/** Value objects of trading: orders, their events, transactions, positions and portfolio values. */

import type { OrderKind, OrderStatus, Side, TimeInForce, TransactionType } from './names';

export interface OrderVO {
  objectType: OrderKind;
  id: number;
  intId: string;
  extId: string | null;
  clOrdId: string | null;
  dateTime: number;
  side: Side;
  quantity: number;
  tif: TimeInForce;
  tifDateTime: number | null;
  exchangeOrder: boolean;
  exchangeId: number;
  securityId: number;
  accountId: number;
  strategyId: number;
  status: OrderStatus;
  filledQuantity: number;
  remainingQuantity: number;
  avgPrice: number | null;
  reason: string | null;
  inDoubt: boolean;
  reference: string | null;
  source: string;
  submittedBy: string | null;
  limit?: number;
  stop?: number;
  postOnly?: boolean;
  displayQuantity?: number;
  minQuantity?: number;
  reduceOnly?: boolean;
}

export interface OrderStatusVO {
  intId: string;
  extId: string | null;
  orderId: number;
  strategyId: number;
  dateTime: number;
  extDateTime: number | null;
  sequenceNumber: number;
  status: OrderStatus;
  filledQuantity: number;
  remainingQuantity: number;
  lastQuantity: number | null;
  lastPrice: number | null;
  avgPrice: number | null;
  reason: string | null;
}

export interface FillVO {
  orderIntId: string;
  extId: string;
  dateTime: number;
  extDateTime: number | null;
  sequenceNumber: number;
  side: Side;
  quantity: number;
  price: number;
}

export interface PositionVO {
  id: number;
  strategyId: number;
  securityId: number;
  accountId: number;
  quantity: number;
  cost: number;
  avgPrice: number | null;
  /** Before costs, like the unrealised. */
  realizedPL: number;
  unrealizedPL: number | null;
  commissions: number;
  fees: number;
  marketPrice: number | null;
  marketValue: number | null;
  currency: string;
}

export interface TransactionVO {
  id: number;
  uuid: string;
  dateTime: number;
  settlementDate: string | null;
  extId: string | null;
  intOrderId: string | null;
  extOrderId: string | null;
  type: TransactionType;
  quantity: number;
  price: number;
  executionCommission: number | null;
  clearingCommission: number | null;
  fee: number | null;
  currency: string;
  accountId: number;
  securityId: number | null;
  strategyId: number;
  description: string | null;
  charges: ChargeVO[];
  /** What the venue calls an entry of its own: FUNDING, DUST … */
  venueKind: string | null;
}

/** What a fill cost in another currency than its own. */
export interface ChargeVO {
  amount: number;
  currency: string;
  kind: 'EXECUTION_COMMISSION' | 'CLEARING_COMMISSION' | 'FEE';
}

export interface CashBalanceVO {
  id: number;
  strategyId: number;
  accountId: number;
  currency: string;
  amount: number;
  /** What the venue holds for the whole account, by its last statement. */
  venueTotal: number | null;
  venueLocked: number | null;
}

/** A value that needs a missing exchange rate is `null`. */
export interface PortfolioValueVO {
  strategyId: number;
  dateTime: number;
  netLiqValue: number | null;
  marketValue: number | null;
  cashBalance: number | null;
  /** Before costs, like the unrealised. */
  realizedPL: number | null;
  unrealizedPL: number | null;
  commissions: number | null;
  fees: number | null;
  openPositions: number;
  currency: string;
}

/** The dry run of an order. */
export interface VerdictVO {
  accepted: boolean;
  code: string | null;
  field: string | null;
  reason: string | null;
  notional: number | null;
  fee: number | null;
}

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
