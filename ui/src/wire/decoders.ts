/** A decoder for every value object. */

import { type Decoder, flag, list, maybe, nothing, number, object, oneOf, optional, record, text, textsByKey } from './decode';
import type * as vo from './types';

export { audit, identity, newToken, token, user } from './accessDecoders';

const side = oneOf('BUY', 'SELL');
const phase = oneOf('INIT', 'PREFEED', 'START', 'RUN', 'EXIT');
const sessionState = oneOf('DISCONNECTED', 'CONNECTED', 'LOGGED_ON', 'SUBSCRIBED');
const tif = oneOf('DAY', 'GTC', 'ATO', 'IOC', 'FOK', 'GTD', 'ATC');
const maybeText = maybe(text);
const maybeNumber = maybe(number);
const orderStatusName = oneOf(
  'OPEN',
  'SUBMITTED',
  'PARTIALLY_EXECUTED',
  'EXECUTED',
  'CANCELED',
  'PENDING_CANCEL',
  'REJECTED',
  'PENDING_REPLACE',
);

export const account = object<vo.AccountVO>({
  id: number,
  name: text,
  active: flag,
  adapterType: text,
  broker: text,
  sessionQualifier: maybeText,
  extAccount: maybeText,
  extAccountGroup: maybeText,
  extAllocationProfile: maybeText,
  extClearingAccount: maybeText,
});

const line = object<vo.LineVO>({
  line: oneOf('TRADING', 'PRIVATE', 'PRICES'),
  up: flag,
  since: maybeNumber,
  lastHeard: maybeNumber,
  reason: maybeText,
});

export const adapter = object<vo.AdapterVO>({
  name: text,
  adapterType: text,
  sessionQualifier: maybeText,
  state: sessionState,
  simulated: flag,
  exchangeIds: list(number),
  orderProperties: list(text),
  lines: list(line),
  openFor: oneOf('ORDERS', 'REDUCE', 'NOTHING'),
});

export const exchange = object<vo.ExchangeVO>({
  id: number,
  name: text,
  code: text,
  mic: maybeText,
  bloombergCode: maybeText,
  timeZone: text,
  tradingHours: list(object<vo.TradingHours>({ open: text, close: text, days: list(number) })),
  holidays: list(object<vo.Holiday>({ date: text, open: maybeText, close: maybeText })),
});

export const securityFamily = object<vo.SecurityFamilyVO>({
  id: number,
  name: text,
  symbolRoot: maybeText,
  isinRoot: maybeText,
  ricRoot: maybeText,
  currency: text,
  contractSize: number,
  priceIncr: maybeNumber,
  underlyingId: maybeNumber,
  exchangeId: maybeNumber,
  executionCommission: maybeNumber,
  clearingCommission: maybeNumber,
  fee: maybeNumber,
  settlement: maybe(oneOf('CASH', 'PHYSICAL')),
});

export const security = object<vo.SecurityVO>({
  id: number,
  objectType: oneOf('Stock', 'Forex', 'Future', 'Option', 'Index', 'Bond', 'Commodity', 'Fund', 'PerpetualSwap'),
  symbol: text,
  description: maybeText,
  isin: maybeText,
  bbgid: maybeText,
  ric: maybeText,
  conid: maybeText,
  adapterTicker: maybeText,
  underlyingId: maybeNumber,
  securityFamilyId: number,
  exchangeId: number,
  currency: text,
  contractSize: number,
  minQty: maybeNumber,
  maxQty: maybeNumber,
  qtyIncr: maybeNumber,
  minPrice: maybeNumber,
  maxPrice: maybeNumber,
  priceIncr: maybeNumber,
  minNotional: maybeNumber,
  tradeable: flag,
  venueSymbols: textsByKey,
  baseCurrency: optional(text),
  transactionCurrency: optional(text),
  expiration: optional(maybeText),
  monthYear: optional(maybeText),
  firstNotice: optional(maybeText),
  strike: optional(number),
  optionType: optional(oneOf('CALL', 'PUT')),
  maturity: optional(maybeText),
  coupon: optional(maybeNumber),
  couponFrequency: optional(maybeNumber),
});

export const strategy = object<vo.StrategyVO>({
  id: number,
  name: text,
  autoActivate: flag,
  phase: maybe(phase),
  lastError: maybeText,
});

export const order = object<vo.OrderVO>({
  objectType: oneOf('MarketOrder', 'LimitOrder', 'StopOrder', 'StopLimitOrder'),
  id: number,
  intId: text,
  extId: maybeText,
  clOrdId: maybeText,
  dateTime: number,
  side,
  quantity: number,
  tif,
  tifDateTime: maybeNumber,
  exchangeOrder: flag,
  exchangeId: number,
  securityId: number,
  accountId: number,
  strategyId: number,
  status: orderStatusName,
  filledQuantity: number,
  remainingQuantity: number,
  avgPrice: maybeNumber,
  reason: maybeText,
  inDoubt: flag,
  reference: maybeText,
  source: text,
  submittedBy: maybeText,
  limit: optional(number),
  stop: optional(number),
  postOnly: optional(flag),
  displayQuantity: optional(number),
  minQuantity: optional(number),
  reduceOnly: optional(flag),
});

export const orderStatus = object<vo.OrderStatusVO>({
  intId: text,
  extId: maybeText,
  orderId: number,
  strategyId: number,
  dateTime: number,
  extDateTime: maybeNumber,
  sequenceNumber: number,
  status: orderStatusName,
  filledQuantity: number,
  remainingQuantity: number,
  lastQuantity: maybeNumber,
  lastPrice: maybeNumber,
  avgPrice: maybeNumber,
  reason: maybeText,
});

export const fill = object<vo.FillVO>({
  orderIntId: text,
  extId: text,
  dateTime: number,
  extDateTime: maybeNumber,
  sequenceNumber: number,
  side,
  quantity: number,
  price: number,
});

export const position = object<vo.PositionVO>({
  id: number,
  strategyId: number,
  securityId: number,
  accountId: number,
  quantity: number,
  cost: number,
  avgPrice: maybeNumber,
  realizedPL: number,
  unrealizedPL: maybeNumber,
  commissions: number,
  fees: number,
  marketPrice: maybeNumber,
  marketValue: maybeNumber,
  currency: text,
});

const charge = object<vo.ChargeVO>({
  amount: number,
  currency: text,
  kind: oneOf('EXECUTION_COMMISSION', 'CLEARING_COMMISSION', 'FEE'),
});

export const transaction = object<vo.TransactionVO>({
  id: number,
  uuid: text,
  dateTime: number,
  settlementDate: maybeText,
  extId: maybeText,
  intOrderId: maybeText,
  extOrderId: maybeText,
  type: oneOf(
    'BUY',
    'SELL',
    'EXPIRATION',
    'TRANSFER',
    'CREDIT',
    'DEBIT',
    'INTEREST_PAID',
    'INTEREST_RECEIVED',
    'DIVIDEND',
    'FEES',
    'REFUND',
  ),
  quantity: number,
  price: number,
  executionCommission: maybeNumber,
  clearingCommission: maybeNumber,
  fee: maybeNumber,
  currency: text,
  accountId: number,
  securityId: maybeNumber,
  strategyId: number,
  description: maybeText,
  charges: list(charge),
  venueKind: maybeText,
});

export const cashBalance = object<vo.CashBalanceVO>({
  id: number,
  strategyId: number,
  accountId: number,
  currency: text,
  amount: number,
  venueTotal: maybeNumber,
  venueLocked: maybeNumber,
});

export const portfolioValue = object<vo.PortfolioValueVO>({
  strategyId: number,
  dateTime: number,
  netLiqValue: maybeNumber,
  marketValue: maybeNumber,
  cashBalance: maybeNumber,
  realizedPL: maybeNumber,
  unrealizedPL: maybeNumber,
  commissions: maybeNumber,
  fees: maybeNumber,
  openPositions: number,
  currency: text,
});

export const tick = object<vo.Tick>({
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
});

export const trade = object<vo.Trade>({
  objectType: oneOf('Trade'),
  securityId: number,
  feed: text,
  dateTime: number,
  price: number,
  quantity: number,
  aggressorSide: maybe(side),
  extId: maybeText,
});

export const bar = object<vo.Bar>({
  objectType: oneOf('Bar'),
  securityId: number,
  feed: text,
  dateTime: number,
  barSize: oneOf('SEC_1', 'MIN_1', 'MIN_5', 'MIN_15', 'HOUR_1', 'DAY_1'),
  open: number,
  high: number,
  low: number,
  close: number,
  vol: number,
  vwap: maybeNumber,
});

const levels = list(object<vo.BookLevel>({ price: number, quantity: number }));

export const orderBook = object<vo.OrderBook>({
  objectType: oneOf('OrderBook'),
  securityId: number,
  feed: text,
  dateTime: number,
  bids: levels,
  asks: levels,
});

export const subscription = object<vo.SubscriptionVO>({ strategyName: text, securityId: number, subscribe: flag });

export const lifeCycle = object<vo.LifeCycleEvent>({
  dateTime: number,
  strategyName: text,
  mode: oneOf('REAL_TIME', 'SIMULATION'),
  phase,
  reason: optional(text),
});

export const session = object<vo.SessionEvent>({
  dateTime: number,
  adapter: text,
  qualifier: maybeText,
  state: sessionState,
});

export const fixSession = object<vo.FixSessionVO>({
  id: text,
  senderCompId: text,
  targetCompId: text,
  state: sessionState,
  peer: maybeText,
  nextIn: number,
  nextOut: number,
  lastReceived: maybeNumber,
  lastSent: maybeNumber,
  nextReset: maybeNumber,
  reason: maybeText,
});

export const logEvent = object<vo.LogEvent>({
  dateTime: number,
  level: oneOf('ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE'),
  logger: text,
  message: text,
  exceptionClass: maybeText,
  exceptionMessage: maybeText,
});

export const tradingState = object<vo.TradingState>({
  scope: text,
  state: oneOf('ACTIVE', 'REDUCING', 'HALTED'),
  dateTime: number,
  reason: maybeText,
  changedBy: maybeText,
});

const countWithin = object<vo.CountWithin>({ count: number, millis: number });

export const limits = object<vo.LimitsVO>({
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
  restrictedSecurities: maybe(list(number)),
});

export const verdict = object<vo.VerdictVO>({
  accepted: flag,
  code: maybeText,
  field: maybeText,
  reason: maybeText,
  notional: maybeNumber,
  fee: maybeNumber,
});

export const breakVo = object<vo.BreakVO>({
  id: text,
  kind: oneOf('ORDER', 'TERMS', 'FILL', 'FEE', 'CASH', 'POSITION', 'EXTERNAL'),
  state: oneOf('OPEN', 'EXPLAINED', 'REPAIRED', 'ACCEPTED'),
  adapter: text,
  account: maybeText,
  security: maybeText,
  intOrderId: maybeText,
  extOrderId: maybeText,
  currency: maybeText,
  ours: maybe(textsByKey),
  theirs: maybe(textsByKey),
  difference: maybeText,
  value: maybeText,
  evidence: object<vo.BreakVO['evidence']>({ report: text, sequence: number, hash: text }),
  since: text,
  changedAt: text,
  changedBy: maybeText,
  comment: maybeText,
  repair: maybeText,
});

export const deadManTimer = object<vo.DeadManTimerVO>({ scope: text, seconds: number, expires: number, renewedBy: maybeText });
export const killed = object<vo.KilledVO>({ scope: text, cancels: number });
export const imported = object<vo.ImportedVO>({ changes: number });

export const health = object<vo.Health>({
  status: oneOf('UP', 'DOWN'),
  checks: list(object<vo.HealthCheck>({ name: text, ok: flag, detail: text })),
});

export const parameters = textsByKey;

export const generic = object<vo.GenericEvent>({ strategyName: text, name: text, body: text });

const PAST: { [Kind in keyof vo.PastKinds]: Decoder<vo.PastKinds[Kind]> } = {
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

const pastKind = oneOf(...(Object.keys(PAST) as (keyof vo.PastKinds)[]));

export const pastEvent: Decoder<vo.PastEvent> = (value, path) => {
  const keyed = record(value, path);
  number(keyed['sequence'], `${path}.sequence`);
  number(keyed['dateTime'], `${path}.dateTime`);
  PAST[pastKind(keyed['objectType'], `${path}.objectType`)](keyed['event'], `${path}.event`);
  return value as vo.PastEvent;
};

export const problem = object<vo.Problem>({
  type: text,
  title: text,
  status: number,
  detail: text,
  code: text,
  errors: optional(list(object<vo.FieldError>({ field: text, code: text, reason: text }))),
  order: optional(order),
});
