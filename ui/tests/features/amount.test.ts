import { expect, test } from 'vitest';
import { amountOf, stepped, typed } from '../../src/features/common/amount';
import { formatsOf } from '../../src/texts/formats';

const english = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const german = formatsOf({ locale: 'de-DE', timeZone: 'UTC' });

test.each([
  ['272.4', 272.4, 272.4],
  [' 100 ', 100, 100],
  ['.5', 0.5, 0.5],
  ['-3', -3, -3],
  ['272,4', '272,4', 272.4],
  ['1,000.5', '1,000.5', '1,000.5'],
  ['ten', 'ten', 'ten'],
  ['', '', ''],
])('%j is read as %j in English and %j in German', (text, inEnglish, inGerman) => {
  expect(amountOf(text, english)).toBe(inEnglish);
  expect(amountOf(text, german)).toBe(inGerman);
});

test('a number is typed without exponents', () => {
  expect([0.00001, 272.4, 1000000, null].map(typed)).toEqual(['0.00001', '272.4', '1000000', '']);
});

test('a step moves by the tick size and never below zero', () => {
  expect(stepped('272.4', 0.01, 1, english)).toBe('272.41');
  expect(stepped('1.10003', 0.00001, -1, english)).toBe('1.10002');
  expect(stepped('', 100, 1, english)).toBe('100');
  expect(stepped('0', 1, -1, english)).toBe('0');
  expect(stepped('5010.26', 0.25, 1, english)).toBe('5010.5');
});
