/** Symbols in grids. Similar symbols differ at their end, so a symbol too long for its cell is cut before its end. */

import { words } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import type { Reference } from '../../state/api';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { SecurityVO } from '../../wire/types';

/** A symbol of more characters than this has a tail that is never cut. */
const SHORT_MAX = 9;
const TAIL_LENGTH = 6;
/** Right and strike of an option: `C280`, `P0027000`. */
const OPTION_TAIL = /[CP][\d.]+$/;
const CHARACTER_PX = 7.6;

/** What is left out where room is scarce, and what never is. */
export function partsOf(symbol: string): { head: string; tail: string } {
  if (symbol.length <= SHORT_MAX) return { head: symbol, tail: '' };
  const tail = OPTION_TAIL.exec(symbol)?.[0] ?? symbol.slice(-TAIL_LENGTH);
  return { head: symbol.slice(0, symbol.length - tail.length), tail };
}

/** Room for the longest of these, in pixels, and at least for `least`. */
export function symbolWidth(symbols: readonly string[], least: number, beside: number): number {
  const longest = Math.max(0, ...symbols.map((symbol) => symbol.length));
  return longest <= SHORT_MAX ? least : Math.max(least, Math.ceil(longest * CHARACTER_PX) + beside);
}

/** What the security is, in words: `Apple call 280, March 2027 · Call 280 until 3/19/27 · NASDAQ`. */
export function termsOf(security: SecurityVO, reference: Reference, texts: Texts, formats: Formats): string {
  const { expiration, strike, optionType } = security;
  const until = expiration == null ? '' : texts.security.until(formats.date(Date.parse(`${expiration}T12:00:00`)));
  const option = optionType === undefined ? '' : `${texts.security[optionType]} ${formats.quantity(strike ?? null)}`;
  const terms = [option, until].filter((part) => part !== '').join(' ');
  const kind = texts.security.kind[security.objectType];
  const parts = [security.description ?? '', kind, terms, reference.exchangeCode(security.exchangeId)];
  return parts.filter((part) => part !== '').join(' · ');
}

/** The tooltip is computed when the pointer enters the cell. */
export function paintSymbol(cell: HTMLElement, symbol: string, terms: () => string): void {
  const { head, tail } = partsOf(symbol);
  const [first, last] = [part('head', head), part('tail', tail)];
  cell.classList.add('symbol');
  cell.replaceChildren(first, ...(tail === '' ? [] : [last]));
  cell.onpointerenter = () => (cell.title = terms());
}

function part(name: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = name;
  element.textContent = text;
  return element;
}

/** The column of whatever names a security. */
export function securityColumn<Row>(
  reference: Reference,
  texts: Texts,
  formats: Formats,
  least: number,
  idOf: (row: Row) => number | null,
  options: Partial<GridColumn<Row>> = {},
  /** A word before the symbol, for rows that are marked. */
  tagOf: (row: Row) => string = () => '',
): GridColumn<Row> {
  const symbolOf = (row: Row): string => (idOf(row) === null ? '' : reference.symbol(idOf(row)));
  const width = symbolWidth(reference.securities.get().map(({ symbol }) => symbol), least, 20);
  const paint = (cell: HTMLElement, row: Row): void => {
    const [symbol, tag] = [symbolOf(row), tagOf(row)];
    if (cell.textContent === tag + symbol) return;
    paintSymbol(cell, symbol, () => {
      const security = reference.securities.row(idOf(row) ?? 0);
      return security === undefined ? '' : termsOf(security, reference, texts, formats);
    });
    if (tag !== '') cell.prepend(part('tag', tag));
  };
  return { ...words<Row>('symbol', texts.column.symbol, width, symbolOf, options), paint };
}
