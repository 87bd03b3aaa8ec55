/** Value objects of the platform: sessions, risk, users, health, problems, history. */

import type { Bar, OrderBook, SubscriptionVO, Tick, Trade } from './market';
import type { LogLevel, Phase, Role, SessionState, TradingStateName } from './names';
import type {
  CashBalanceVO,
  FillVO,
  OrderStatusVO,
  OrderVO,
  PortfolioValueVO,
  PositionVO,
  TransactionVO,
} from './trading';

export interface LifeCycleEvent {
  dateTime: number;
  strategyName: string;
  mode: 'REAL_TIME' | 'SIMULATION';
  phase: Phase;
  /** Why a strategy that failed was stopped. */
  reason?: string | undefined;
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
  messagesPerSecond: number | null;
  executionBreaker: CountWithin | null;
  /** Ids of securities in which only cancels are allowed. */
  restrictedSecurities: readonly number[] | null;
}

/** Unless it is renewed in time, the kill switch of its scope fires. */
export type BreakKind = 'ORDER' | 'TERMS' | 'FILL' | 'FEE' | 'CASH' | 'POSITION' | 'EXTERNAL';
export type BreakState = 'OPEN' | 'EXPLAINED' | 'REPAIRED' | 'ACCEPTED';

/** A difference between us and a venue; amounts and instants are texts. */
export interface BreakVO {
  id: string;
  kind: BreakKind;
  state: BreakState;
  adapter: string;
  account: string | null;
  security: string | null;
  intOrderId: string | null;
  extOrderId: string | null;
  currency: string | null;
  ours: Record<string, string> | null;
  theirs: Record<string, string> | null;
  difference: string | null;
  value: string | null;
  evidence: { report: string; sequence: number; hash: string };
  since: string;
  changedAt: string;
  changedBy: string | null;
  comment: string | null;
  repair: string | null;
}

export interface DeadManTimerVO {
  scope: string;
  seconds: number;
  expires: number;
  renewedBy: string | null;
}

export interface KilledVO {
  scope: string;
  cancels: number;
}

export interface IdentityVO {
  /** `null` where the server requires no login. */
  user: string | null;
  role: Role;
  strategy: string | null;
}

/** What a user or a token may trade; `null`: everything. */
export interface TradingRights {
  accounts: readonly number[] | null;
  securities: readonly number[] | null;
  interfaces: readonly string[] | null;
}

export interface UserVO extends TradingRights {
  name: string;
  role: Role;
  strategy: string | null;
  created: number;
}

export interface TokenVO extends TradingRights {
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
  Break: BreakVO;
  Limits: LimitsVO;
  LogEvent: LogEvent;
  Generic: GenericEvent;
  Reference: null;
}

export type PastEvent = {
  [Kind in keyof PastKinds]: { sequence: number; dateTime: number; objectType: Kind; event: PastKinds[Kind] };
}[keyof PastKinds];

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
