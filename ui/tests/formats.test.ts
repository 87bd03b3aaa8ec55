import { expect, test } from 'vitest';
import { formatsOf } from '../src/texts/formats';

const english = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const german = formatsOf({ locale: 'de-DE', timeZone: 'UTC' });

test('a size stands as it is while it is short, then in thousands and millions', () => {
  const sizes = [null, 0, 0.25, 300, 1_600, 68_123, 750_000, 1_000_000, 2_250_000, 10_000_000];
  expect(sizes.map(english.size)).toEqual(['—', '0', '0.25', '300', '1,600', '68.1k', '750k', '1M', '2.25M', '10M']);
  expect(sizes.slice(4).map(german.size)).toEqual(['1.600', '68,1k', '750k', '1M', '2,25M', '10M']);
});

test('a size has no more digits than its column has room for, also where it is rounded up', () => {
  const sizes = [0.112345, 0.00123456, 12.3456, 1_234.56, 9_999.4, 9_999.6, 999_499, 999_600, -68_123];
  expect(sizes.map(english.size)).toEqual(['0.112', '0.00123', '12.35', '1,235', '9,999', '10k', '999k', '1M', '-68.1k']);
});

test('numbers are written as the language writes them', () => {
  expect([english.price(272.4, 2), english.money(-1_234.5), english.signed(2), english.percent(0.0125)]).toEqual([
    '272.40',
    '-1,234.50',
    '+2.00',
    '+1.25%',
  ]);
  expect([german.price(272.4, 2), german.money(-1_234.5)]).toEqual(['272,40', '-1.234,50']);
});

test('an age is told in the largest unit that fits', () => {
  expect([0, 59_999, 60_000, 3_600_000].map(english.age)).toEqual(['0 s', '59 s', '1 min', '1 h']);
});

test('what did not happen today says on which day it did', () => {
  const noon = Date.UTC(2026, 10, 15, 12);
  const { moment } = formatsOf({ locale: 'en-GB', timeZone: 'UTC' }, () => noon);
  expect([moment(noon - 60_000), moment(noon - 13 * 3_600_000), moment(null)]).toEqual(['11:59:00', '14/11 23:00', '—']);
});
