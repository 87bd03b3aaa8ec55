/**
 * Order search: pages of matching orders, newest first, from the server, which keeps more than a browser. Changes of orders while
 * the search is open come from the blotter, which receives all of them.
 */

import { WireError } from '../wire/error';
import { type OrderQuery, PAGE_ROWS, type Server } from '../wire/server';
import type { OrderVO } from '../wire/types';
import type { Clock, Freshness, OrderFilter, OrderSearch, Readable, Reference, Stop, Table } from './api';
import { RETRY_AFTER_MS } from './join';
import { Cell } from './readable';
import { Rows } from './table';

/** A text is searched for after this time without a further key, in milliseconds. */
export const SEARCH_AFTER_MS = 300;

export const NO_FILTER: OrderFilter = { text: '', accountId: null, status: null, from: null, to: null };

export interface SearchTools {
  server: Pick<Server, 'searchOrders'>;
  clock: Clock;
  /** Every order that the screen knows, in its newest version. */
  all: Table<string, OrderVO>;
  strategy: Readable<number | null>;
  hidesStrategies: Readable<boolean>;
  reference: Pick<Reference, 'symbol'>;
  onTrouble(error: unknown): void;
}

export class OrderFinder implements OrderSearch {
  readonly rows: Rows<string, OrderVO>;
  readonly freshness = new Cell<Freshness>('loading');
  readonly hasOlder = new Cell(false);
  readonly isBusy = new Cell(false);
  private filter = NO_FILTER;
  /** Counts the searches; a reply to an older one is ignored. */
  private round = 0;
  /** Id of the oldest order that was loaded: older ones come with the next page. */
  private oldest: number | null = null;
  private stopWaiting: Stop = () => undefined;
  private readonly stops: Stop[];

  constructor(private readonly tools: SearchTools) {
    this.rows = new Rows(tools.clock, (order) => order.intId);
    let isFirst = true;
    const restart = () => isFirst || this.scheduleSearch(0);
    this.stops = [
      tools.all.watch((change) => (change.reset ? restart() : this.applyChanges(change.upserted))),
      tools.strategy.subscribe(restart),
      tools.hidesStrategies.subscribe(restart),
    ];
    isFirst = false;
    this.scheduleSearch(0);
  }

  find(filter: OrderFilter): void {
    const isWriting = filter.text !== this.filter.text;
    this.filter = { ...filter, text: filter.text.trim() };
    this.scheduleSearch(isWriting ? SEARCH_AFTER_MS : 0);
  }

  older(): void {
    if (this.isBusy.get() || !this.hasOlder.get()) return;
    void this.read(this.round, this.oldest);
  }

  close(): void {
    this.round += 1;
    this.stopWaiting();
    for (const stop of this.stops) stop();
  }

  private scheduleSearch(afterMs: number): void {
    const round = ++this.round;
    this.isBusy.set(true);
    this.stopWaiting();
    this.stopWaiting = this.tools.clock.after(afterMs, () => void this.read(round, null));
  }

  private async read(round: number, after: number | null): Promise<void> {
    this.isBusy.set(true);
    try {
      const { value } = await this.tools.server.searchOrders(this.query(), after);
      if (round === this.round) this.applyPage(value, after);
    } catch (error) {
      if (round === this.round) this.fail(error, round, after);
    }
  }

  /** A page is sorted from the newest on; what the blotter knows of an order is newer than the page. */
  private applyPage(page: readonly OrderVO[], after: number | null): void {
    this.oldest = page.at(-1)?.id ?? after;
    this.hasOlder.set(page.length >= PAGE_ROWS);
    const fitting = page.map((order) => this.newest(order)).filter((order) => this.fits(order));
    if (after === null) this.rows.reset([...fitting.reverse(), ...this.missed(page)]);
    else for (const order of fitting) this.rows.upsert(order);
    this.freshness.set('live');
    this.isBusy.set(false);
  }

  /** Orders that were placed while the search was running. */
  private missed(page: readonly OrderVO[]): OrderVO[] {
    const newest = page.at(0)?.id ?? 0;
    return this.tools.all.get().filter((order) => order.id > newest && this.fits(order));
  }

  private fail(error: unknown, round: number, after: number | null): void {
    this.freshness.set(this.rows.size() === 0 ? 'loading' : 'stale');
    const isAway = error instanceof WireError && (error.status === 0 || error.status >= 500 || error.status === 429);
    if (isAway) {
      this.stopWaiting = this.tools.clock.after(RETRY_AFTER_MS, () => round === this.round && void this.read(round, after));
      return;
    }
    this.isBusy.set(false);
    this.tools.onTrouble(error);
  }

  /** Orders older than the last page are left out: they come with the next page. */
  private applyChanges(orders: readonly OrderVO[]): void {
    if (this.freshness.get() === 'loading') return;
    for (const order of orders) {
      if (!this.fits(order)) this.rows.remove(order.intId);
      else if (this.rows.row(order.intId) || !this.hasOlder.get() || order.id > (this.oldest ?? 0)) this.rows.upsert(order);
    }
  }

  private newest(order: OrderVO): OrderVO {
    const known = this.tools.all.row(order.intId);
    return known === undefined || known.inDoubt ? order : known;
  }

  private query(): OrderQuery {
    const { text, accountId, status, from, to } = this.filter;
    const strategyId = this.tools.strategy.get();
    const withoutStrategies = strategyId === null && this.tools.hidesStrategies.get();
    return { text, accountId, status, from, to, strategyId, withoutStrategies };
  }

  /** The server's filter, applied to orders that arrived after its reply. */
  private fits(order: OrderVO): boolean {
    const { text, accountId, status, from, to, strategyId, withoutStrategies } = this.query();
    if (strategyId !== null && order.strategyId !== strategyId) return false;
    if (withoutStrategies && order.source === 'STRATEGY') return false;
    if (accountId !== null && order.accountId !== accountId) return false;
    if (status !== null && order.status !== status) return false;
    if ((from !== null && order.dateTime < from) || (to !== null && order.dateTime >= to)) return false;
    return text === '' || this.words(order).some((word) => word.toLowerCase().includes(text.toLowerCase()));
  }

  private words({ intId, extId, clOrdId, reference, securityId }: OrderVO): string[] {
    return [intId, extId ?? '', clOrdId ?? '', reference ?? '', this.tools.reference.symbol(securityId)];
  }
}
