import { expect, test } from 'vitest';
import { ranked } from '../../src/parts/search';

const found = ['TSLA', 'NESN', 'ESZ6', 'ES', 'AAPL'].map((symbol) => ({ symbol }));
const symbols = (query: string) => ranked(found, query).map(({ symbol }) => symbol);

test('the symbol itself comes first, then its beginning, then a part of it, then the rest as it was found', () => {
  expect(symbols('es')).toEqual(['ES', 'ESZ6', 'NESN', 'TSLA', 'AAPL']);
  expect(symbols(' aapl ')).toEqual(['AAPL', 'TSLA', 'NESN', 'ESZ6', 'ES']);
});

test('what no symbol has leaves the order of the server', () => {
  expect(symbols('motors')).toEqual(found.map(({ symbol }) => symbol));
});
