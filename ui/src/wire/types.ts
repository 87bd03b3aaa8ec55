/**
 * The value objects of the server, as `contract/json/` has them. Decimals are JSON numbers; instants are epoch
 * milliseconds; dates are `YYYY-MM-DD`. A key that may be absent is `null`, never missing.
 */

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

export interface AccountVO {
  id: number;
  name: string;
  active: boolean;
  adapterType: string;
  broker: string;
  sessionQualifier: string | null;
  extAccount: string | null;
  extAccountGroup: string | null;
  extAllocationProfile: string | null;
  extClearingAccount: string | null;
}

export interface TradingHours {
  open: string;
  close: string;
  days: number[];
}

export interface Holiday {
  date: string;
  open: string | null;
  close: string | null;
}

export interface ExchangeVO {
  id: number;
  name: string;
  code: string;
  mic: string | null;
  bloombergCode: string | null;
  timeZone: string;
  tradingHours: TradingHours[];
  holidays: Holiday[];
}

export interface SecurityFamilyVO {
  id: number;
  name: string;
  symbolRoot: string | null;
  isinRoot: string | null;
  ricRoot: string | null;
  currency: string;
  contractSize: number;
  priceIncr: number | null;
  underlyingId: number | null;
  exchangeId: number | null;
  executionCommission: number | null;
  clearingCommission: number | null;
  fee: number | null;
}

export interface SecurityVO {
  id: number;
  objectType: SecurityKind;
  symbol: string;
  description: string | null;
  isin: string | null;
  bbgid: string | null;
  ric: string | null;
  conid: string | null;
  adapterTicker: string | null;
  underlyingId: number | null;
  securityFamilyId: number;
  exchangeId: number;
  currency: string;
  contractSize: number;
  minQty: number | null;
  maxQty: number | null;
  qtyIncr: number | null;
  minPrice: number | null;
  maxPrice: number | null;
  priceIncr: number | null;
  minNotional: number | null;
  tradeable: boolean;
  /** Forex. */
  baseCurrency?: string;
  transactionCurrency?: string;
  /** Future, Option. */
  expiration?: string | null;
  monthYear?: string | null;
  firstNotice?: string | null;
  strike?: number;
  optionType?: 'CALL' | 'PUT';
  /** Bond. */
  maturity?: string | null;
  coupon?: number | null;
  couponFrequency?: number | null;
}

export interface StrategyVO {
  id: number;
  name: string;
  autoActivate: boolean;
  phase: Phase | null;
}

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
  realizedPL: number;
  unrealizedPL: number | null;
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
}

export interface CashBalanceVO {
  id: number;
  strategyId: number;
  accountId: number;
  currency: string;
  amount: number;
}

/** A value that needs a rate which nobody quotes is `null`. */
export interface PortfolioValueVO {
  strategyId: number;
  dateTime: number;
  netLiqValue: number | null;
  marketValue: number | null;
  cashBalance: number | null;
  realizedPL: number | null;
  unrealizedPL: number | null;
  openPositions: number;
  currency: string;
}

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

export interface LifeCycleEvent {
  dateTime: number;
  strategyName: string;
  mode: 'REAL_TIME' | 'SIMULATION';
  phase: Phase;
}

export interface SessionEvent {
  dateTime: number;
  adapter: string;
  qualifier: string | null;
  state: SessionState;
}

export interface FixSessionVO {
  id: string;
  senderCompId: string;
  targetCompId: string;
  state: SessionState;
  peer: string | null;
  nextIn: number;
  nextOut: number;
  lastReceived: number | null;
  lastSent: number | null;
  nextReset: number | null;
  reason: string | null;
}

export interface LogEvent {
  dateTime: number;
  level: LogLevel;
  logger: string;
  message: string;
  exceptionClass: string | null;
  exceptionMessage: string | null;
}

export interface TradingState {
  /** `PLATFORM`, `ACCOUNT-<id>`, `STRATEGY-<id>` or `SECURITY-<id>`. */
  scope: string;
  state: TradingStateName;
  dateTime: number;
  reason: string | null;
  changedBy: string | null;
}

export interface CountWithin {
  count: number;
  millis: number;
}

export interface LimitsVO {
  scope: string;
  maxOrderQuantity: number | null;
  maxOrderNotional: number | null;
  priceCollarPercent: number | null;
  staleAfterSeconds: number | null;
  maxOpenOrders: number | null;
  maxOpenNotional: number | null;
  maxLong: number | null;
  maxShort: number | null;
  maxGrossExposure: number | null;
  cashCheck: boolean | null;
  ordersPerSecond: number | null;
  duplicateGuard: CountWithin | null;
  rejectBreaker: CountWithin | null;
  maxDayLoss: number | null;
  maxDrawdown: number | null;
  selfTrade: string | null;
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

export interface KilledVO {
  scope: string;
  cancels: number;
}

export interface IdentityVO {
  /** `null` while nobody needs to log in. */
  user: string | null;
  role: Role;
  strategy: string | null;
}

export interface UserVO {
  name: string;
  role: Role;
  strategy: string | null;
  created: number;
}

export interface TokenVO {
  name: string;
  prefix: string;
  role: Role;
  strategy: string | null;
  created: number;
  expires: number | null;
}

/** A new token; the only time that its text is seen. */
export interface NewTokenVO extends TokenVO {
  token: string;
}

export interface AuditVO {
  id: number;
  dateTime: number;
  user: string | null;
  door: string;
  peer: string | null;
  action: string;
  outcome: string;
  detail: string | null;
  times: number;
  lastDateTime: number;
}

export interface HealthCheck {
  name: string;
  ok: boolean;
  detail: string;
}

export interface Health {
  status: 'UP' | 'DOWN';
  checks: HealthCheck[];
}

export interface ImportedVO {
  changes: number;
}

export interface GenericEvent {
  strategyName: string;
  name: string;
  body: string;
}

/** The value object behind each `objectType` of the past; where it says `null`, that it changed is news enough. */
export interface PastKinds {
  Tick: Tick;
  Trade: Trade;
  OrderBook: OrderBook;
  Bar: Bar;
  Order: OrderVO;
  OrderStatus: OrderStatusVO;
  Fill: FillVO;
  Transaction: TransactionVO;
  Position: PositionVO;
  CashBalance: CashBalanceVO;
  PortfolioValue: PortfolioValueVO;
  Subscription: SubscriptionVO;
  LifeCycle: LifeCycleEvent;
  Session: SessionEvent;
  TradingState: TradingState;
  Limits: LimitsVO;
  LogEvent: LogEvent;
  Generic: GenericEvent;
  Reference: null;
}

export type PastEvent = {
  [Kind in keyof PastKinds]: { sequence: number; dateTime: number; objectType: Kind; event: PastKinds[Kind] };
}[keyof PastKinds];

/** What the screen sends to place, check or change an order. Left out means: the server's default, or unchanged. */
export interface OrderBody {
  objectType: OrderKind;
  intId?: string;
  securityId: number;
  accountId?: number;
  strategyId?: number;
  exchangeId?: number;
  side: Side;
  /** A text where the person wrote something that is no number: the server says what is wrong with it. */
  quantity?: number | string;
  limit?: number | string;
  stop?: number | string;
  tif?: TimeInForce;
  /** Epoch milliseconds, or a date for the close of that day. */
  tifDateTime?: number | string;
  exchangeOrder?: boolean;
  reference?: string;
}

export interface FieldError {
  field: string;
  code: string;
  reason: string;
}

/** RFC 9457, as the server writes it. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: FieldError[];
  /** The live order, where an id was used twice. */
  order?: OrderVO;
}
