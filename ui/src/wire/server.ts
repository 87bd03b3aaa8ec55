/** Server API: every REST call that the screen makes, by name. */

import { type Decoder, list, record, text } from './decode';
import * as read from './decoders';
import { comparisonsIn } from './metrics';
import type { Method, Snapshot, Rest } from './rest';
import type * as vo from './types';

/** The last part of the paths of a type: `stoplimit` for `StopLimitOrder`. */
function orderPath(kind: vo.OrderKind): string {
  return kind.replace(/Order$/, '').toLowerCase();
}

/** Most rows of one page. */
export const PAGE_ROWS = 1_000;
/** Most rows of history that the screen loads; where there are more, it shows that. */
export const PAST_ROWS = 5_000;

export interface NewUser {
  name: string;
  password: string;
  role: vo.Role;
  strategy?: string;
}

export interface NewToken {
  name: string;
  role: vo.Role;
  strategy?: string;
  days?: number;
}

/** Filter of an order search; an empty or `null` field does not filter. */
export interface OrderQuery {
  /** A part of one of its ids, its reference or its symbol. */
  text: string;
  strategyId: number | null;
  accountId: number | null;
  status: vo.OrderStatus | null;
  /** `from` is within, `to` is not. */
  from: number | null;
  to: number | null;
  withoutStrategies: boolean;
}

/** Whether the remaining pages are still wanted. */
export type IsWanted = () => boolean;

export class Server {
  constructor(private readonly rest: Rest) {}

  identity = () => this.rest.get('/rest/login', read.identity);
  login = (user: string, password: string) => this.rest.request('POST', '/rest/login', { user, password }, read.identity);
  logout = () => this.command('POST', '/rest/logout');

  /** Preferences of this user, as one document that the server does not interpret. */
  settings = () => this.rest.tagged('/rest/settings', record);
  /** Writes only where the server's document still has this tag; gives the new tag. */
  async keepSettings(document: Record<string, unknown>, tag: string): Promise<string> {
    const headers = await this.rest.commandKeepalive('PUT', '/rest/settings', document, { 'If-Match': tag });
    return headers.get('etag') ?? '';
  }

  accounts = () => this.rest.get('/rest/account', list(read.account));
  adapters = () => this.rest.get('/rest/adapter', list(read.adapter));
  /** Securities that changed after a sequence; after 0, all: the list, and what changed since its first page. */
  securityChanges = async (after: number): Promise<Snapshot<vo.SecurityChangeVO[]>> => {
    const value: vo.SecurityChangeVO[] = [];
    let sequence = after;
    for (let id = 0; !after; id = value.at(-1)?.securityId ?? 0) {
      const page = await this.rest.snapshot(`/rest/security?limit=${PAGE_ROWS}&after=${id}`, list(read.security));
      sequence ||= page.sequence;
      for (const security of page.value) value.push({ sequence, securityId: security.id, security });
      if (!page.value.length) break;
    }
    for (;;) {
      const page = await this.rest.get(`/rest/security.changes?limit=${PAGE_ROWS}&after=${sequence}`, list(read.securityChange));
      // Not spread as arguments: a page has all changes of one input.
      for (const change of page) value.push(change);
      if (!page.length) return { sequence, value };
      sequence = page.at(-1)?.sequence ?? sequence;
    }
  };
  families = () => this.rest.get('/rest/security-family', list(read.securityFamily));
  exchanges = () => this.rest.get('/rest/exchange', list(read.exchange));
  search = (query: string) => this.rest.get(`/rest/security.search?query=${encodeURIComponent(query)}`, list(read.security));

  strategies = () => this.rest.snapshot('/rest/strategy', list(read.strategy));
  startStrategy = (name: string) => this.command('POST', `/rest/strategy/${encodeURIComponent(name)}/start`);
  stopStrategy = (name: string) => this.command('POST', `/rest/strategy/${encodeURIComponent(name)}/stop`);

  openOrders = () => this.rest.snapshot('/rest/execution/order', list(read.order));
  order = (intId: string) => this.rest.get(`/rest/execution/order/${encodeURIComponent(intId)}`, list(read.order));
  orderEvents = (intId: string) =>
    this.rest.get(`/rest/history/order/${encodeURIComponent(intId)}/event?limit=${PAGE_ROWS}`, list(read.orderStatus));
  positions = () => this.rest.snapshot('/rest/position', list(read.position));
  values = () => this.rest.snapshot('/rest/portfolio/value', list(read.portfolioValue));
  balances = () => this.rest.snapshot('/rest/portfolio/balance', list(read.cashBalance));

  /** Oldest first; `scope` is empty for the platform, else `strategy=`, `account=` or `security=` with an id. */
  valueHistory = async (scope: string, period: 'sample' | 'day' | 'week' | 'month', from: number | null) => {
    const path = `/rest/portfolio/history?${scope}&period=${period}${from === null ? '' : `&from=${from}`}&limit=${PAGE_ROWS}&after=`;
    const rows: vo.ValueHistoryVO[] = [];
    for (let last = PAGE_ROWS; last === PAGE_ROWS; ) {
      const page = await this.rest.get(path + (rows.at(-1)?.sequence ?? 0), list(read.valueHistory));
      rows.push(...page);
      // The newest stay.
      rows.splice(0, rows.length - PAST_ROWS);
      last = page.length;
    }
    return rows;
  };

  /** What was answered after the last input at an instant or before it; all parts are of one sequence. */
  pastState = async (at: number) => {
    const { sequence, value: orders } = await this.rest.snapshot(`/rest/execution/order?at=${at}`, list(read.order));
    const then = <T>(path: string, decoder: Decoder<T>) => this.rest.get(`${path}?at=seq:${sequence}`, list(decoder));
    const [positions, balances, values] = await Promise.all([
      then('/rest/position', read.position),
      then('/rest/portfolio/balance', read.cashBalance),
      then('/rest/portfolio/value', read.portfolioValue),
    ]);
    return { sequence, orders, positions, balances, values };
  };

  /** The newest of all strategies, or of one; ascending by id. */
  pastOrders = (strategyId: number | null = null, isWanted?: IsWanted) =>
    this.newest('/rest/history/order', { strategy: strategyId }, read.order, isWanted);

  /** One page, the newest first; `after` is the id of the last one of the page before. */
  searchOrders = ({ text, strategyId, accountId, status, from, to, withoutStrategies }: OrderQuery, after: number | null) => {
    const filter = { text: text || null, strategy: strategyId, account: accountId, status, from, to, after };
    const given = Object.entries(filter).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
    const flags = withoutStrategies ? [['withoutStrategies', 'true']] : [];
    const query = new URLSearchParams([['sort', 'NEWEST'], ['limit', String(PAGE_ROWS)], ...given, ...flags]);
    return this.rest.snapshot(`/rest/history/order?${query}`, list(read.order));
  };

  /** The newest of all strategies, or of one; ascending by id. */
  transactions = (strategyId: number | null = null, isWanted?: IsWanted) =>
    this.newest('/rest/history/transaction', { strategy: strategyId }, read.transaction, isWanted);

  /** The newest in one security; ascending by id. */
  transactionsIn = (securityId: number, isWanted?: IsWanted) =>
    this.newest('/rest/history/transaction', { security: securityId }, read.transaction, isWanted);

  ticks = () => this.rest.snapshot('/rest/marketdata/tick', list(read.tick));
  tick = (securityId: number) => this.rest.snapshot(`/rest/marketdata/tick?security=${securityId}`, list(read.tick));
  books = (securityId: number) =>
    this.rest.snapshot(`/rest/marketdata/book?security=${securityId}`, list(read.orderBook));
  /** The newest of each security, oldest first. */
  bars = (securityIds: readonly number[], size: vo.BarSize, limit: number) =>
    this.rest.snapshot(`/rest/marketdata/bar?security=${securityIds.join()}&barSize=${size}&limit=${limit}`, list(read.bar));
  subscribe = (request: vo.SubscriptionVO) => this.command('PUT', '/rest/subscription/marketdata/subscribe', request);

  /** Gives the id of the order. */
  async place(order: vo.OrderBody): Promise<string> {
    const headers = await this.rest.command('POST', `/rest/execution/order/${orderPath(order.objectType)}`, order);
    const location = headers.get('location') ?? '';
    return decodeURIComponent(location.slice(location.lastIndexOf('/') + 1));
  }

  modify = (order: vo.OrderBody) =>
    this.command('POST', `/rest/execution/modify/order/${orderPath(order.objectType)}`, order);
  cancel = (intId: string) => this.command('DELETE', `/rest/execution/order/${encodeURIComponent(intId)}`);
  claim = (intId: string, strategy: string) => this.command('POST', `/rest/order/${encodeURIComponent(intId)}/claim`, { strategy });
  check = (order: vo.OrderBody, signal?: AbortSignal) =>
    this.rest.request('POST', '/rest/risk/check', order, read.verdict, signal);
  checkChange = (order: vo.OrderBody, signal?: AbortSignal) =>
    this.rest.request('POST', '/rest/risk/check/modify', order, read.verdict, signal);
  nextOrderId = (accountId: number) => this.rest.request('POST', '/rest/next-order-id', accountId, text);
  reducePosition = (id: number, quantity: number) => this.command('POST', `/rest/position/reduce/${id}`, quantity);

  /** Open ones, and those that were settled since yesterday. */
  breaks = () => this.rest.snapshot('/rest/break?state=ALL', list(read.breakVo));
  comparisons = async () => comparisonsIn(await this.rest.text('/metrics'));
  explainBreak = (id: string, comment: string) => this.settleBreak(id, 'explain', comment);
  acceptBreak = (id: string, comment: string) => this.settleBreak(id, 'accept', comment);
  repairBreak = (id: string, comment: string) => this.settleBreak(id, 'repair', comment);

  tradingStates = () => this.rest.snapshot('/rest/risk/state', list(read.tradingState));
  setTradingState = (scope: string, state: vo.TradingStateName, reason: string) =>
    this.command('PUT', '/rest/risk/state', { scope, state, reason });
  kill = (scope: string, reason: string) => this.rest.request('POST', '/rest/risk/kill', { scope, reason }, read.killed);
  limits = () => this.rest.snapshot('/rest/risk/limit', list(read.limits));
  setLimits = (limits: vo.LimitsVO) => this.command('PUT', '/rest/risk/limit', limits);

  log = () => this.rest.get(`/rest/log?limit=${PAGE_ROWS}`, list(read.logEvent));
  cluster = () => this.rest.get('/rest/cluster', read.clusterOverview);
  fixSessions = () => this.rest.get('/rest/fix/sessions', list(read.fixSession));
  logoutFix = (id: string) => this.command('POST', `/rest/fix/sessions/${encodeURIComponent(id)}/logout`);
  resetFix = (id: string) => this.command('POST', `/rest/fix/sessions/${encodeURIComponent(id)}/reset`);
  parameters = () => this.rest.get('/rest/config-params', read.parameters);

  /** A server that is not ready says so with 503 and the same body. */
  health = () => this.rest.getAnyway('/health/ready', read.health);

  users = () => this.rest.get('/rest/user', list(read.user));
  addUser = (user: NewUser) => this.command('POST', '/rest/user', user);
  removeUser = (name: string) => this.command('DELETE', `/rest/user/${encodeURIComponent(name)}`);
  setUserRights = (name: string, rights: vo.TradingRights) => this.command('PUT', `/rest/user/${encodeURIComponent(name)}/rights`, rights);
  tokens = () => this.rest.get('/rest/token', list(read.token));
  makeToken = (token: NewToken) => this.rest.request('POST', '/rest/token', token, read.newToken);
  setTokenRights = (name: string, rights: vo.TradingRights) => this.command('PUT', `/rest/token/${encodeURIComponent(name)}/rights`, rights);
  revokeToken = (name: string) => this.command('DELETE', `/rest/token/${encodeURIComponent(name)}`);

  /** The newest come first. */
  audit = (limit: number) => this.rest.get(`/rest/audit?sort=NEWEST&limit=${limit}`, list(read.audit));

  resetPositions = () => this.command('POST', '/rest/position/reset-positions');
  resetCash = () => this.command('POST', '/rest/transaction/reset-cash-balances');
  reloadReference = () => this.command('POST', '/rest/cache/clear-all');
  shutDown = () => this.command('POST', '/rest/runtime/exit-vm');

  /** Loads pages backwards in time. Rows older than the first page do not change, so its sequence holds for all. */
  private async newest<T extends { id: number }>(
    path: string,
    of: Record<string, number | null>,
    decoder: Decoder<T>,
    isWanted: IsWanted = () => true,
  ): Promise<Snapshot<T[]>> {
    const page = (after: number | null) => {
      const parameters = Object.entries({ ...of, after }).map(([name, id]) => (id === null ? '' : `&${name}=${id}`));
      return this.rest.snapshot(`${path}?sort=NEWEST&limit=${PAGE_ROWS}${parameters.join('')}`, list(decoder));
    };
    const { sequence, value: rows } = await page(null);
    for (let last = rows; last.length === PAGE_ROWS && rows.length < PAST_ROWS && isWanted(); ) {
      last = (await page(rows.at(-1)?.id ?? null)).value;
      rows.push(...last);
    }
    return { sequence, value: rows.reverse() };
  }

  private settleBreak(id: string, act: 'explain' | 'accept' | 'repair', comment: string): Promise<void> {
    return this.command('POST', `/rest/break/${encodeURIComponent(id)}/${act}`, { comment });
  }

  private async command(method: Method, path: string, body?: unknown): Promise<void> {
    await this.rest.command(method, path, body);
  }
}
