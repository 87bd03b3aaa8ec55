import { expect, test } from 'vitest';
import { parseFilter, type Searchable } from '../../src/parts/grid/filter';

const COLUMNS = ['symbol', 'side', 'quantity', 'status'];
const ROWS: Record<string, Record<string, Searchable>> = {
  apple: row('AAPL', 'BUY', 100, 'Working'),
  tesla: row('TSLA', 'SELL', 5, 'Partly filled'),
  euro: row('EUR.USD', 'BUY', 20_000, 'Working'),
};

function row(symbol: string, side: string, quantity: number, status: string): Record<string, Searchable> {
  const word = (value: string): Searchable => ({ text: value, value });
  return {
    symbol: word(symbol),
    side: word(side),
    quantity: { text: quantity.toLocaleString('en'), value: quantity },
    status: word(status),
  };
}

function found(line: string): string[] {
  const filter = parseFilter(line, COLUMNS);
  return Object.keys(ROWS).filter((name) => filter.fits((column) => ROWS[name]?.[column]));
}

test.each([
  ['', ['apple', 'tesla', 'euro']],
  ['aapl', ['apple']],
  ['side:buy', ['apple', 'euro']],
  ['buy working', ['apple', 'euro']],
  ['"partly filled"', ['tesla']],
  ['quantity>100', ['euro']],
  ['quantity>=100', ['apple', 'euro']],
  ['Quantity<100', ['tesla']],
  ['-side:buy', ['tesla']],
  ['side=sell quantity<=5', ['tesla']],
  ['quantity>many', []],
  ['"unfinished quo', []],
  ['nobody', []],
])('the line %j finds %j', (line, names) => {
  expect(found(line)).toEqual(names);
});

test('a column that the grid does not have is named and fits nothing', () => {
  expect(parseFilter('price:5 side:buy', COLUMNS).unknown).toEqual(['price']);
  expect(found('price:5')).toEqual([]);
});
