/**
 * The interfaces of the stores that features use. Each store has a file of its own beside
 * this one. Everything that shows trading is already filtered by the strategy selector.
 *
 * A `Readable` is a Svelte store, so `$name` works in components. A `Table` also reports what changed, at most once a
 * frame, for grids that paint single rows.
 */

import type {
  AccountVO,
  AuditVO,
  Bar,
  BarSize,
  CashBalanceVO,
  ExchangeVO,
  IdentityVO,
  LimitsVO,
  LogEvent,
  NewTokenVO,
  OrderBody,
  OrderBook,
  OrderStatus,
  OrderStatusVO,
  OrderVO,
  PortfolioValueVO,
  PositionVO,
  Role,
  SecurityFamilyVO,
  SecurityVO,
  Side,
  StrategyVO,
  Tick,
  TokenVO,
  Trade,
  TradingRights,
  TradingState,
  TradingStateName,
  TransactionVO,
  UserVO,
  ValueHistoryVO,
  VerdictVO,
} from '../wire/types';
import type { Memory } from './storage';
import type { Breaks, Cluster, Sessions } from './venueApi';

export type { AdapterSession, Breaks, Cluster, ClusterState, Sessions, Venue } from './venueApi';

export type Stop = () => void;

/** The Svelte store contract, plus the value now. */
export interface Readable<T> {
  get(): T;
  subscribe(run: (value: T) => void): Stop;
}

export interface Writable<T> extends Readable<T> {
  set(value: T): void;
  update(change: (value: T) => T): void;
}

/** What happened to a table since the last frame. */
export interface Change<T> {
  /** All rows were replaced (first delivery, reconnect, other strategy): drop all rows, then apply `upserted`. */
  reset: boolean;
  upserted: readonly T[];
  removed: readonly T[];
}

/** Rows by key. As a `Readable` it is the list of its rows in the order of their first appearance. */
export interface Table<K, T> extends Readable<readonly T[]> {
  size(): number;
  row(key: K): T | undefined;
  keyOf(row: T): K;
  /** Called at once with all rows (`reset`), then at most once a frame with what changed. */
  watch(listener: (change: Change<T>) => void): Stop;
}

/** `loading` until the first snapshot has arrived; `stale` while the connection is down. */
export type Freshness = 'loading' | 'live' | 'stale';

export interface Quote {
  securityId: number;
  tick: Tick;
  /** This browser's time of arrival, for the age; the server's time stands in the tick. */
  receivedAt: number;
  /** Of the tick or, where nothing was traded since the server started, the close of the last bar. */
  last: number | null;
  /** Since the open of the day, where that is known. */
  change: number | null;
  changePercent: number | null;
  /** Recent last prices, oldest first, for a sparkline; at most `SPARKLINE_POINTS`. The array is replaced, not changed. */
  spark: readonly number[];
}

export const SPARKLINE_POINTS = 60;

export interface Market {
  /** All quotes that are known; only those that a widget wants are kept fresh. */
  quotes: Table<number, Quote>;
  /**
   * Keeps the prices of these securities fresh until the returned function is called. A security without any price is also
   * subscribed at its venue.
   */
  want(securityIds: readonly number[]): Stop;
  /** Milliseconds since the quote arrived, by the clock of the stores. */
  ageOf(quote: Quote): number;
  /** Whether the server says so, the venue of its feed is away, or the connection that would tell is lost. A quiet market is not stale. */
  isStale(quote: Quote): boolean;
}

/** Bars of one security and size, oldest first; the last one grows with the ticks until it is closed. */
export interface BarSeries extends Readable<readonly Bar[]> {
  freshness: Readable<Freshness>;
  close(): void;
}

export interface LiveBook extends Readable<OrderBook | null> {
  freshness: Readable<Freshness>;
  close(): void;
}

export interface LiveTrades extends Readable<readonly Trade[]> {
  close(): void;
}

/** Reference data, loaded at start and again when it changes. Not filtered. */
export interface Reference {
  securities: Table<number, SecurityVO>;
  families: Table<number, SecurityFamilyVO>;
  exchanges: Table<number, ExchangeVO>;
  accounts: Table<number, AccountVO>;
  /** `AAPL` for 1; `#1` where it is unknown. */
  symbol(securityId: number | null): string;
  accountName(accountId: number): string;
  exchangeCode(exchangeId: number): string;
  strategyName(strategyId: number): string;
  /** Decimal places of a price, from the tick size. */
  priceDigits(securityId: number | null): number;
  /** The server's own search; a problem says where the query is wrong. */
  search(query: string): Promise<SecurityVO[]>;
}

export interface Orders {
  /** Open and pending ones. */
  open: Table<string, OrderVO>;
  /** Open ones and the newest `PAST_ROWS` that are done, of the selected strategy alone; a search finds all others. */
  history: Table<string, OrderVO>;
  /** Of every strategy, whichever is selected: for one that is known by its id. */
  all: Table<string, OrderVO>;
  freshness: Readable<Freshness>;
  /** The events of one order, from the server's history. */
  events(intId: string): Promise<OrderStatusVO[]>;
  /** Today's fills, for marks on a chart; the key is the transaction's id. */
  fills: Table<number, Fill>;
}

/** Filter of an order search, beside the selected strategy and the setting that hides orders of strategies. */
export interface OrderFilter {
  /** A part of one of its ids, its reference or its symbol. */
  text: string;
  accountId: number | null;
  status: OrderStatus | null;
  /** Epoch milliseconds; `from` is within, `to` is not. */
  from: number | null;
  to: number | null;
}

/** Search in all orders that the server has; its rows stay live until it is closed. */
export interface OrderSearch {
  rows: Table<string, OrderVO>;
  freshness: Readable<Freshness>;
  isBusy: Readable<boolean>;
  /** Whether the server has more that fit. */
  hasOlder: Readable<boolean>;
  find(filter: OrderFilter): void;
  /** Reads the next page. */
  older(): void;
  close(): void;
}

/** As `open` of all orders, without what strategies placed where the settings hide that and none is selected. */
export interface ShownOrders {
  open: Table<string, OrderVO>;
}

/** A fill as it was booked. */
export interface Fill {
  id: number;
  orderIntId: string | null;
  dateTime: number;
  side: Side;
  quantity: number;
  price: number;
  securityId: number;
  strategyId: number;
}

export interface Trading {
  /** Gives the order's intId. A `WireError` has the server's text and, where it knows one, the field. */
  place(order: OrderBody): Promise<string>;
  modify(order: OrderBody & { intId: string }): Promise<void>;
  /** Whether the server has an order of this id, open or done. */
  exists(intId: string): Promise<boolean>;
  cancel(intId: string): Promise<void>;
  /** Cancels these open orders, each unless its cancel is under way; gives how many cancels were requested. */
  cancelAll(intIds: readonly string[]): Promise<{ requested: number; failed: number }>;
  check(order: OrderBody, signal?: AbortSignal): Promise<VerdictVO>;
  /** The same for a change of a live order. */
  checkChange(change: OrderBody, signal?: AbortSignal): Promise<VerdictVO>;
  reducePosition(positionId: number, quantity: number): Promise<void>;
  /** Gives an external order, and the position that it made, to the strategy of this name. */
  claim(intId: string, strategy: string): Promise<void>;
  /** Whether the role of the current user may trade. */
  mayTrade: Readable<boolean>;
}

export interface Totals {
  currency: string;
  netLiqValue: number | null;
  cashBalance: number | null;
  marketValue: number | null;
  /** Before costs, like the unrealised. */
  realizedPL: number | null;
  unrealizedPL: number | null;
  commissions: number | null;
  fees: number | null;
  openPositions: number;
}

export interface Portfolio {
  positions: Table<number, PositionVO>;
  balances: Table<number, CashBalanceVO>;
  values: Table<number, PortfolioValueVO>;
  transactions: Table<number, TransactionVO>;
  /** Whether the server has older ones. */
  isCut: Readable<boolean>;
  /** Sum over the selected strategies, in base currency. */
  totals: Readable<Totals>;
  freshness: Readable<Freshness>;
}

export interface Strategies {
  /** Whichever is selected. */
  all: Table<number, StrategyVO>;
  /** The selected one, or all. */
  selected: Table<number, StrategyVO>;
  start(name: string): Promise<void>;
  stop(name: string): Promise<void>;
}

export interface LogLine extends LogEvent {
  /** A number of this browser, for the row's key. */
  id: number;
}

export interface Log {
  /** The newest `LOG_LINES_MAX`. */
  lines: Table<number, LogLine>;
}

export const LOG_LINES_MAX = 2_000;

export interface Risk {
  /** Scopes that are not ACTIVE, and those that once were not. */
  states: Table<string, TradingState>;
  /** The state of the whole platform. */
  platform: Readable<TradingStateName>;
  limits: Table<string, LimitsVO>;
  /** Halts a scope and cancels its orders; gives the number of cancels sent. */
  kill(scope: string, reason: string): Promise<number>;
  setState(scope: string, state: TradingStateName, reason: string): Promise<void>;
  setLimits(limits: LimitsVO): Promise<void>;
}

export type Link = 'connecting' | 'live' | 'lagging' | 'offline';

export interface ConnectionState {
  link: Link;
  /** While it lags: whether this browser itself is overloaded, so that neither the server nor the network is the cause. */
  isStarved: boolean;
  /** When `link` became what it is. */
  since: number;
  /** How often the connection was lost and found again. */
  reconnects: number;
  /** Messages in the last second. */
  messagesPerSecond: number;
  /** Prices that were replaced by newer ones before they were delivered, in the last second. */
  conflatedPerSecond: number;
  /** How late the newest message was, in milliseconds. */
  delayMs: number | null;
}

export interface Access {
  /** `null` while a login is required and has not happened. */
  identity: Readable<IdentityVO | null>;
  phase: Readable<'asking' | 'in' | 'out'>;
  /** The session ended without a logout of the user. */
  isEnded: Readable<boolean>;
  login(user: string, password: string): Promise<void>;
  logout(): Promise<void>;
  may(role: Role): boolean;
}

export interface Administration {
  users(): Promise<UserVO[]>;
  addUser(user: { name: string; password: string; role: Role; strategy?: string }): Promise<void>;
  removeUser(name: string): Promise<void>;
  tokens(): Promise<TokenVO[]>;
  makeToken(token: { name: string; role: Role; strategy?: string; days?: number }): Promise<NewTokenVO>;
  setUserRights(name: string, rights: TradingRights): Promise<void>;
  setTokenRights(name: string, rights: TradingRights): Promise<void>;
  revokeToken(name: string): Promise<void>;
  /** The newest first. */
  audit(limit: number): Promise<AuditVO[]>;
  parameters(): Promise<Record<string, string>>;
  resetPositions(): Promise<void>;
  resetCash(): Promise<void>;
  reloadReference(): Promise<void>;
  shutDown(): Promise<void>;
}

export type ValuePeriod = 'sample' | 'day' | 'week' | 'month';
export type Theme = 'system' | 'dark' | 'light';
export type Language = 'en' | 'de';
export type Palette = 'classic' | 'colour-blind';

export interface Settings {
  theme: Theme;
  language: Language;
  /** A BCP 47 tag for numbers and times; `''` follows the browser. */
  locale: string;
  timeZone: 'local' | 'UTC';
  palette: Palette;
  /** Orders of at least this notional (base currency) are confirmed; 0 = all, `null` = none. */
  confirmFrom: number | null;
  /** The lists of orders hide orders of strategies, unless their strategy is selected. */
  hideStrategyOrders: boolean;
  /** Which events raise a notification. */
  notify: { fills: boolean; strategyFills: boolean; rejects: boolean; errors: boolean };
}

export type NoticeKind = 'fill' | 'reject' | 'error' | 'warning' | 'info' | 'success';

export interface Notice {
  id: number;
  kind: NoticeKind;
  title: string;
  detail: string;
  at: number;
  seen: boolean;
  /** Subject of the notice: a later notice with the same key replaces this one. */
  key: string | null;
}

export interface Notifications {
  all: Readable<readonly Notice[]>;
  /** Shows a toast and keeps the notice in the list. One with a key takes the place of the one before it. */
  raise(kind: NoticeKind, title: string, detail?: string, key?: string): void;
  /** A failed call, in the server's own words. */
  raiseError(title: string, error: unknown): void;
  dismiss(id: number): void;
  clear(): void;
}

/** Selection that all widgets share: a security selected in one widget is shown in all. */
export interface Selection {
  /** `null` means ALL. */
  strategyId: Writable<number | null>;
  securityId: Writable<number | null>;
}

/** Values that a click in another widget puts into the order ticket. */
export interface TicketFill {
  securityId: number;
  side?: Side;
  quantity?: number;
  limit?: number;
  stop?: number;
}

/** Intents from one widget, or the keyboard, to another widget; the shell opens the widget that handles them. */
export interface Intents {
  emit<Name extends keyof IntentMap>(name: Name, value: IntentMap[Name]): void;
  /** A listener that subscribes after the intent was emitted, because its widget had to be opened first, still receives it. */
  on<Name extends keyof IntentMap>(name: Name, run: (value: IntentMap[Name]) => void): Stop;
  /** Registers the function that opens the widget which handles this intent. */
  opens(name: keyof IntentMap, open: () => void): Stop;
}

export interface IntentMap {
  /** Fill the ticket and put the cursor in it. */
  ticket: TicketFill;
  /** Change this order in the ticket's modify form. */
  modify: OrderVO;
  /** Put the cursor into the search of the market grid. */
  search: null;
  /** Put the cursor on the first row. */
  orderRows: null;
  positionRows: null;
  /** Ask whether this position is to be closed. */
  closePosition: number;
  /** Ask to cancel all open orders. */
  cancelAll: null;
  /** Show the events of an order. */
  orderEvents: string;
  /** Show the open breaks. */
  breaks: null;
  /** Show the members of the cluster. */
  cluster: null;
}

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  every(ms: number, run: () => void): Stop;
  after(ms: number, run: () => void): Stop;
  /** Once, with the next painting: all that waits is painted together, about ten times a second. */
  onFrame(run: () => void): Stop;
}

/** Preferences of a user: kept on the server, the same in every browser. */
export interface UserMemory extends Memory {
  /** Whether the preferences of this user are loaded; until then the workspace is not shown. */
  isReady: Readable<boolean>;
  /** Notifies of a value that was changed elsewhere, not of one written here. */
  watch(key: string, listener: (value: unknown) => void): Stop;
  /** Registers a writer of delayed changes; it runs before a logout and before the page is closed. */
  beforeFlush(write: () => void): Stop;
  /** Memory of this user in this browser alone, for the current selection. */
  here(): Memory;
}

/** All stores. Components get them by `useStores()`. */
export interface Stores {
  clock: Clock;
  access: Access;
  memory: UserMemory;
  connection: Readable<ConnectionState>;
  settings: Writable<Settings>;
  selection: Selection;
  intents: Intents;
  notifications: Notifications;
  reference: Reference;
  market: Market;
  bars(securityId: number, size: BarSize): BarSeries;
  book(securityId: number): LiveBook;
  trades(securityId: number): LiveTrades;
  orders: Orders;
  shownOrders: ShownOrders;
  searchOrders(): OrderSearch;
  trading: Trading;
  portfolio: Portfolio;
  strategies: Strategies;
  sessions: Sessions;
  cluster: Cluster;
  log: Log;
  risk: Risk;
  breaks: Breaks;
  administration: Administration;
  /** Oldest first; `scope` is empty for the platform, else `strategy=`, `account=` or `security=` with an id. */
  valueHistory(scope: string, period: ValuePeriod, from: number | null): Promise<ValueHistoryVO[]>;
  /** The state after the last input at an instant or before it, in epoch milliseconds. */
  pastState(at: number): Promise<PastState>;
}

/** What was answered at a sequence of the past. */
export interface PastState {
  sequence: number;
  orders: OrderVO[];
  positions: PositionVO[];
  balances: CashBalanceVO[];
  values: PortfolioValueVO[];
}
