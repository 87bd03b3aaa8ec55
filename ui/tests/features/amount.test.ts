import { expect, test } from 'vitest';
import { amountOf, isUnclear, readingsOf, stepped, typed } from '../../src/features/common/amount';
import { formatsOf } from '../../src/texts/formats';

const english = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const german = formatsOf({ locale: 'de-DE', timeZone: 'UTC' });

test.each([
  ['272.4', 272.4, 272.4],
  [' 100 ', 100, 100],
  ['.5', 0.5, 0.5],
  ['-3', -3, -3],
  ['272,4', '272,4', 272.4],
  ['1,000.5', 1000.5, '1,000.5'],
  ['1,700', 1700, '1,700'],
  ['1.700,5', '1.700,5', 1700.5],
  ['12,345,678', 12345678, '12,345,678'],
  ['1,70', '1,70', 1.7],
  ['154,485', 154485, 154.485],
  ['10k', 10000, 10000],
  ['1.5m', 1500000, 1500000],
  ['2,5M', '2,5M', 2500000],
  ['-3K', -3000, -3000],
  ['k', 'k', 'k'],
  ['1.000', 1, '1.000'],
  ['1.000.000', '1.000.000', 1000000],
  ['0.125', 0.125, 0.125],
  ['1.10003', 1.10003, 1.10003],
  ['1e3', '1e3', '1e3'],
  ['ten', 'ten', 'ten'],
  ['', '', ''],
])('%j is read as %j in English and %j in German', (text, inEnglish, inGerman) => {
  expect(amountOf(text, english)).toBe(inEnglish);
  expect(amountOf(text, german)).toBe(inGerman);
});

test('a number is typed without exponents', () => {
  const numbers = [0.00001, 272.4, 1000000, null];
  expect(numbers.map((value) => typed(value, english))).toEqual(['0.00001', '272.4', '1000000', '']);
});

test('a number is typed so that it is read back, in every locale', () => {
  expect([typed(272.405, german), amountOf(typed(272.405, german), german)]).toEqual(['272,405', 272.405]);
  expect(stepped('272,404', 0.001, 1, german)).toBe('272,405');
});

test.each([
  ['1.000', false, true],
  ['12.345.678', true, false],
  ['1,000', false, true],
  ['2,700', false, true],
  ['272,4', true, false],
  ['1,000.5', false, true],
  ['-1.000', false, true],
  ['1e3', true, true],
  ['1.5E-2', true, true],
  ['0.125', false, false],
  ['272.4', false, false],
  ['1000', false, false],
  ['ten', false, false],
])('%j is unclear: %j in English, %j in German', (text, inEnglish, inGerman) => {
  expect([isUnclear(text, english), isUnclear(text, german)]).toEqual([inEnglish, inGerman]);
});

test.each([
  ['1.700', [], ['1700', '1,7']],
  ['1,700', [], ['1,7', '1700']],
  ['272,4', ['272.4'], []],
  ['1.234,50', ['1234.5'], []],
  ['1e3', ['1000'], ['1000']],
  ['ten', [], []],
])('of %j is offered %j in English and %j in German', (text, inEnglish, inGerman) => {
  expect([readingsOf(text, english), readingsOf(text, german)]).toEqual([inEnglish, inGerman]);
});

test('thousands are read as the locale writes them, with blanks and apostrophes too', () => {
  const [french, swiss] = ['fr-FR', 'de-CH'].map((locale) => formatsOf({ locale, timeZone: 'UTC' }));
  expect([amountOf(french!.quantity(1_700), french!), amountOf('1 700,5', french!), amountOf(swiss!.quantity(1_700), swiss!)]).toEqual([1700, 1700.5, 1700]);
});

test('a step moves by the tick size and never below zero', () => {
  expect(stepped('272.4', 0.01, 1, english)).toBe('272.41');
  expect(stepped('1.10003', 0.00001, -1, english)).toBe('1.10002');
  expect(stepped('', 100, 1, english)).toBe('100');
  expect(stepped('0', 1, -1, english)).toBe('0');
  expect(stepped('5010.26', 0.25, 1, english)).toBe('5010.5');
});
