/** Portfolio store: positions, balances, values and transactions. */

import type { Decoder } from '../wire/decode';
import * as read from '../wire/decoders';
import type { Snapshot } from '../wire/rest';
import { PAST_ROWS, type Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { CashBalanceVO, PortfolioValueVO, PositionVO, TransactionVO } from '../wire/types';
import type { Fill, Freshness, Portfolio, Readable, Table, Totals } from './api';
import { Join, type JoinTools } from './join';
import { fillOf, FORGOTTEN_AT_ONCE, leastFirst, ofStrategy } from './orders';
import { SelectedHistory } from './history';
import { Cell, derive } from './readable';
import { Rows, View } from './table';

/** The newest of all, of the selected strategy and of the security; older ones are dropped here and stay on the server. */
export const TRANSACTIONS_MAX = 3 * PAST_ROWS;

export interface PortfolioTools extends JoinTools {
  server: Pick<Server, 'positions' | 'balances' | 'values' | 'transactions' | 'transactionsIn'>;
  strategy: Readable<number | null>;
  /** The one whose fills are drawn. */
  security: Readable<number | null>;
  /** A fill was booked just now, of any strategy. */
  onFill?(fill: Fill): void;
}

export class PortfolioStore implements Portfolio {
  readonly positions: Table<number, PositionVO>;
  readonly balances: Table<number, CashBalanceVO>;
  readonly values: Table<number, PortfolioValueVO>;
  readonly transactions: Table<number, TransactionVO>;
  readonly fills: Table<number, Fill>;
  readonly isCut: Readable<boolean>;
  readonly totals: Readable<Totals>;
  readonly freshness: Readable<Freshness>;

  constructor(private readonly tools: PortfolioTools) {
    const { server, clock } = tools;
    const positions = new Rows<number, PositionVO>(clock, (row) => row.id);
    const balances = new Rows<number, CashBalanceVO>(clock, (row) => row.id);
    const values = new Rows<number, PortfolioValueVO>(clock, (row) => row.strategyId);
    const transactions = new Rows<number, TransactionVO>(clock, (row) => row.id);
    this.freshness = this.follow(topics.positions, read.position, server.positions, positions);
    this.follow(topics.balances, read.cashBalance, server.balances, balances);
    this.follow(topics.values, read.portfolioValue, server.values, values);
    this.isCut = this.followTransactions(transactions);
    this.positions = this.selected(positions);
    this.balances = this.selected(balances);
    this.values = this.selected(values);
    this.transactions = this.selected(transactions);
    this.fills = this.selected(fillsOf(transactions, new Rows<number, Fill>(clock, (fill) => fill.id)));
    this.totals = derive([this.values], totalsOf);
  }

  private follow<T>(
    topic: string,
    decoder: Decoder<T>,
    snapshot: () => Promise<Snapshot<T[]>>,
    rows: Rows<number, T>,
  ): Readable<Freshness> {
    const reset = (snapshot: T[]) => rows.reset(snapshot);
    const apply = (row: T) => rows.upsert(row);
    return new Join({ topic, decoder, snapshot, reset, apply }, this.tools).freshness;
  }

  /** Gives whether some are missing. */
  private followTransactions(rows: Rows<number, TransactionVO>): Readable<boolean> {
    const { server, strategy, security } = this.tools;
    const [isCut, hasForgotten] = [new Cell(false), new Cell(false)];
    const isOfStrategy = ofStrategy<TransactionVO>(strategy);
    const worth = (row: TransactionVO) => Number(isOfStrategy.get()(row)) + Number(row.securityId === security.get());
    const keep = (booked: readonly TransactionVO[]) => {
      for (const row of booked) rows.upsert(row);
      if (forgetOldest(rows, worth)) hasForgotten.set(true);
    };
    const ofSelected = new SelectedHistory({ ...this.tools, selected: strategy, read: server.transactions, keep });
    const ofSecurity = new SelectedHistory({ ...this.tools, selected: security, read: server.transactionsIn, keep });
    const reset = (snapshot: TransactionVO[]) => {
      rows.reset(snapshot);
      isCut.set(snapshot.length >= PAST_ROWS);
      for (const past of [ofSelected, ofSecurity]) past.onSnapshot();
    };
    const { transactions: topic } = topics;
    const snapshot = () => server.transactions();
    const apply = (row: TransactionVO) => {
      keep([row]);
      const fill = fillOf(row);
      if (fill !== null) this.tools.onFill?.(fill);
    };
    new Join({ topic, decoder: read.transaction, snapshot, reset, apply }, this.tools);
    return isCutOf(strategy, isCut, ofSelected.isCut, hasForgotten);
  }

  private selected<T extends { strategyId: number }>(rows: Rows<number, T>): Table<number, T> {
    return new View(rows, ofStrategy<T>(this.tools.strategy));
  }
}

/** Rows of strategies and securities that are not selected are dropped first. Gives whether any were dropped. */
function forgetOldest(rows: Rows<number, TransactionVO>, worth: (row: TransactionVO) => number): boolean {
  const excess = rows.size() - TRANSACTIONS_MAX;
  if (excess <= FORGOTTEN_AT_ONCE) return false;
  for (const row of leastFirst(rows.get(), worth).slice(0, excess)) rows.remove(row.id);
  return true;
}

function fillsOf(transactions: Table<number, TransactionVO>, fills: Rows<number, Fill>): Rows<number, Fill> {
  const isFill = (fill: Fill | null) => fill !== null;
  transactions.watch(({ reset, upserted, removed }) => {
    const news = upserted.map(fillOf).filter(isFill);
    if (reset) fills.reset(news);
    else for (const fill of news) fills.upsert(fill);
    for (const { id } of removed) fills.remove(id);
  });
  return fills;
}

/** A sum is unknown where one of its parts is. */
function totalsOf(values: readonly PortfolioValueVO[]): Totals {
  const sum = (part: (value: PortfolioValueVO) => number | null) =>
    values.map(part).reduce((total, value) => (total === null || value === null ? null : total + value), 0);
  return {
    currency: values.at(0)?.currency ?? '',
    netLiqValue: sum((value) => value.netLiqValue),
    cashBalance: sum((value) => value.cashBalance),
    marketValue: sum((value) => value.marketValue),
    realizedPL: sum((value) => value.realizedPL),
    unrealizedPL: sum((value) => value.unrealizedPL),
    commissions: sum((value) => value.commissions),
    fees: sum((value) => value.fees),
    openPositions: values.reduce((total, value) => total + value.openPositions, 0),
  };
}

/** Whether rows are missing in what the selector lets through. */
function isCutOf(
  strategy: Readable<number | null>,
  ofAll: Readable<boolean>,
  ofSelected: Readable<boolean>,
  hasForgotten: Readable<boolean>,
): Readable<boolean> {
  const isCut = (id: number | null, all: boolean, own: boolean, forgotten: boolean) => forgotten || (id === null ? all : own);
  return derive([strategy, ofAll, ofSelected, hasForgotten], isCut);
}
