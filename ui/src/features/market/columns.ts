/** The columns of the market grid. Rows are securities; every cell reads its quote when it is painted. */

import type { Quote } from '../../state/api';
import { writeMoved } from '../../parts/flash';
import { iconElement } from '../../parts/icons';
import { setText } from '../../parts/grid/cells';
import { aging, figures, gains, words } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import { drawNote, drawSparkline } from '../../parts/sparkline';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { SecurityVO, Side } from '../../wire/types';
import { clickName, CLICKED, type QuoteSide } from '../common/clicks';
import { paintSymbol } from '../common/symbols';

export interface QuoteSource {
  quote(securityId: number): Quote | undefined;
  ageOf(quote: Quote): number;
  isStale(quote: Quote): boolean;
  digits(securityId: number): number;
  exchangeCode(exchangeId: number): string;
  /** What the security is, in words. */
  terms(security: SecurityVO): string;
  /** Whether ticket, chart and book show it. */
  isChosen(securityId: number): boolean;
  /** Room for every symbol of the list. */
  symbolPx: number;
}

export interface Clicks {
  remove: (securityId: number) => void;
  /** Fills the ticket when a price is clicked. */
  trade?: (securityId: number, side: Side) => void;
}

type Reading = (quote: Quote) => number | null;
type Column = GridColumn<SecurityVO>;

/** For a short symbol such as `USDT.USD`, and beside it the button that removes the row. */
export const SYMBOL_PX = 98;
/** The button and the edges of the cell. */
export const BESIDE_SYMBOL_PX = 40;
/** For the longest size that is written, `0.00123`. */
const SIZE_PX = 56;
/** Read as parts of one, written as the title says. */
const PERCENT = { value: (part: number) => part * 100 };

/** Columns that fade with their quote; price columns handle that themselves. */
const AGING: ReadonlySet<string> = new Set(['bidSize', 'askSize', 'changePercent', 'change', 'lastSize', 'volume']);

export function marketColumns(source: QuoteSource, texts: Texts, formats: Formats, clicks: Clicks): Column[] {
  const isStale = (row: SecurityVO): boolean => {
    const quote = source.quote(row.id);
    return quote !== undefined && source.isStale(quote);
  };
  const columns = quoteColumns(source, texts, formats, clicks);
  return columns.map((column) => (AGING.has(column.id) ? aging(column, isStale) : column));
}

function quoteColumns(source: QuoteSource, texts: Texts, formats: Formats, clicks: Clicks): Column[] {
  const { column } = texts;
  const read = (reading: Reading) => (row: SecurityVO) => {
    const quote = source.quote(row.id);
    return quote === undefined ? null : reading(quote);
  };
  const moves = (value: number | null, row: SecurityVO) =>
    `${value !== null && value > 0 ? '+' : ''}${formats.price(value, source.digits(row.id))}`;
  const price = (id: string, title: string, reading: Reading) => priceColumn(id, title, source, formats, reading);
  return [
    symbolColumn(source, texts, clicks),
    figures('bidSize', column.bidSize, SIZE_PX, read(({ tick }) => tick.volBid), formats.size, { hidden: true }),
    clickable(price('bid', column.bid, ({ tick }) => tick.bid), 'bid', texts, clicks),
    clickable(price('ask', column.ask, ({ tick }) => tick.ask), 'ask', texts, clicks),
    figures('askSize', column.askSize, SIZE_PX, read(({ tick }) => tick.volAsk), formats.size, { hidden: true }),
    lastColumn(price('last', column.last, ({ last }) => last), source, texts),
    gains('changePercent', column.changePercent, 60, read((quote) => quote.changePercent), formats.percent, { csv: PERCENT }),
    sparkColumn(source, texts, formats),
    ageColumn(source, texts, formats),
    gains('change', column.change, 72, read((quote) => quote.change), moves, { hidden: true }),
    figures('lastSize', column.lastSize, 60, read(({ tick }) => tick.volLast), formats.size, { hidden: true }),
    figures('volume', column.volume, 64, read(({ tick }) => tick.vol), formats.size, { hidden: true }),
    words('description', column.description, 170, (row) => row.description ?? '', { hidden: true }),
    words('kind', column.kind, 80, (row) => row.objectType, { hidden: true }),
    words('exchange', column.exchange, 76, (row) => source.exchangeCode(row.exchangeId), { hidden: true }),
    words('currency', column.currency, 72, (row) => row.currency, { hidden: true }),
    words('feed', column.feed, 120, (row) => source.quote(row.id)?.tick.feed ?? '', { hidden: true }),
  ];
}

function symbolColumn(source: QuoteSource, texts: Texts, { remove }: Clicks): Column {
  const paint = (cell: HTMLElement, row: SecurityVO): void => {
    cell.classList.toggle('chosen', source.isChosen(row.id));
    if (cell.childElementCount > 0) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.tabIndex = -1;
    button.className = 'row-action quiet';
    button.ariaLabel = `${texts.market.remove}: ${row.symbol}`;
    button.append(iconElement('close'));
    button.onclick = () => remove(row.id);
    paintSymbol(cell, row.symbol, () => source.terms(row));
    cell.classList.add('beside-quiet');
    cell.prepend(button);
  };
  return { ...words<SecurityVO>('symbol', texts.column.symbol, source.symbolPx, (row) => row.symbol, { pinned: true }), paint };
}

function clickable(column: Column, quoteSide: QuoteSide, texts: Texts, { trade }: Clicks): Column {
  const { paint } = column;
  if (trade === undefined) return column;
  return {
    ...column,
    paint: (cell, row) => {
      paint?.(cell, row);
      if (cell.onclick !== null || !row.tradeable) return;
      cell.classList.add('clickable');
      // The tooltip is computed when the pointer enters the cell, not with every tick.
      cell.onpointerenter = () => (cell.title = clickName(texts, quoteSide, cell.textContent ?? '', null));
      cell.onclick = () => trade(row.id, CLICKED[quoteSide]);
    },
  };
}

/** A price lights up when it moves and fades when it is stale. */
function priceColumn(id: string, title: string, source: QuoteSource, formats: Formats, reading: Reading): Column {
  const before = new WeakMap<HTMLElement, number | null>();
  const value = (row: SecurityVO): number | null => {
    const quote = source.quote(row.id);
    return quote === undefined ? null : reading(quote);
  };
  const paint = (cell: HTMLElement, row: SecurityVO): void => {
    const quote = source.quote(row.id);
    const price = quote === undefined ? null : reading(quote);
    const isOld = (id === 'last' && isFromBefore(quote)) || (quote !== undefined && source.isStale(quote));
    cell.classList.toggle('stale', isOld);
    if (before.get(cell) === price) return;
    writeMoved(cell, formats.price(price, source.digits(row.id)), before.get(cell), price);
    before.set(cell, price);
  };
  return { ...figures<SecurityVO>(id, title, 64, value, (price, row) => formats.price(price, source.digits(row.id))), paint };
}

/** No trade since the server started. */
function isFromBefore(quote: Quote | undefined): boolean {
  return quote !== undefined && quote.last !== null && quote.tick.last === null;
}

/** A price without a trade since the server started fades, as any price that may be old. */
function lastColumn(column: Column, source: QuoteSource, texts: Texts): Column {
  const { paint } = column;
  return {
    ...column,
    paint: (cell, row) => {
      paint?.(cell, row);
      const isEarlier = isFromBefore(source.quote(row.id));
      const title = isEarlier ? texts.market.notYetTraded : '';
      if (cell.title !== title) cell.title = title;
    },
  };
}

/** Recent prices; where the newest is old its age stands there instead, because a trend that ended is none. */
function sparkColumn(source: QuoteSource, texts: Texts, formats: Formats): Column {
  const oldness = (row: SecurityVO): string | null => {
    const quote = source.quote(row.id);
    return quote !== undefined && source.isStale(quote) ? `! ${formats.age(source.ageOf(quote))}` : null;
  };
  const name = (cell: HTMLElement, row: SecurityVO): void => {
    const age = oldness(row);
    const label = age === null ? texts.market.trend(row.symbol) : `${texts.market.stale} ${age}`;
    if (cell.ariaLabel === label) return;
    cell.role = 'img';
    cell.ariaLabel = label;
    cell.title = age === null ? '' : texts.market.stale;
  };
  return {
    ...words<SecurityVO>('spark', texts.column.spark, 48, () => ''),
    paint: name,
    draw: (context, row, box) => {
      const age = oldness(row);
      if (age === null) drawSparkline(context, source.quote(row.id)?.spark ?? [], box);
      else drawNote(context, age, box);
    },
  };
}

function ageColumn(source: QuoteSource, texts: Texts, formats: Formats): Column {
  const value = (row: SecurityVO): number | null => {
    const quote = source.quote(row.id);
    return quote === undefined ? null : source.ageOf(quote);
  };
  const show = (age: number | null, row: SecurityVO): string => {
    if (age === null) return texts.market.noPrice;
    const quote = source.quote(row.id);
    const isStale = quote !== undefined && source.isStale(quote);
    return isStale ? `! ${formats.age(age)}` : formats.age(age);
  };
  const paint = (cell: HTMLElement, row: SecurityVO): void => {
    const quote = source.quote(row.id);
    setText(cell, show(value(row), row));
    const isStale = quote === undefined || source.isStale(quote);
    if (cell.classList.contains('stale') === isStale) return;
    cell.classList.toggle('stale', isStale);
    cell.title = isStale && quote !== undefined ? texts.market.stale : '';
  };
  const csv = { title: texts.market.ageSeconds, value: (age: number) => age / 1_000 };
  return { ...figures('age', texts.column.age, 42, value, show, { csv, hidden: true }), paint };
}
