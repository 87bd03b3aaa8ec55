/** Order summary on the button and in the confirmation of a large order: what is sent, and nothing else. */

import { expect, test } from 'vitest';
import { BLANK, bodyOf, type TicketForm } from '../../src/features/ticket/form';
import { lifeOf, summaryOf } from '../../src/features/ticket/summary';
import { ENGLISH, loadTexts, type Texts } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';

const FORM: TicketForm = { ...BLANK, side: 'SELL', quantity: '2000', limit: '254', stop: '255' };

const inLanguage = (texts: Texts, locale: string) => {
  const formats = formatsOf({ locale, timeZone: 'UTC' });
  return (change: Partial<TicketForm>) => summaryOf(bodyOf({ ...FORM, ...change }, 1, formats), 'AAPL', texts, formats);
};
const english = inLanguage(ENGLISH, 'en-GB');
const german = inLanguage(await loadTexts('de'), 'de-DE');

test('every kind is told from the others, with all its prices', () => {
  expect([
    english({ kind: 'MarketOrder' }),
    english({ kind: 'LimitOrder' }),
    english({ kind: 'StopOrder' }),
    english({ kind: 'StopLimitOrder' }),
    german({ kind: 'StopLimitOrder' }),
  ]).toEqual([
    'Sell 2,000 AAPL at market',
    'Sell 2,000 AAPL limit 254',
    'Sell 2,000 AAPL stop 255',
    'Sell 2,000 AAPL stop 255 limit 254',
    'Verkaufen 2.000 AAPL Stop 255 Limit 254',
  ]);
});

test('properties stand behind the prices', () => {
  expect([
    english({ postOnly: true, displayQuantity: '100' }),
    english({ kind: 'MarketOrder', tif: 'IOC', minQuantity: '500', reduceOnly: true }),
    german({ postOnly: true, displayQuantity: '1.000', reduceOnly: true, quantity: '2000' }),
  ]).toEqual([
    'Sell 2,000 AAPL limit 254 · Post only · Display qty 100',
    'Sell 2,000 AAPL at market · Min qty 500 · Reduce only',
    expect.stringContaining('· Nur einstellen'),
  ]);
});

test('numbers stand as they were understood, and what is none does not look like one', () => {
  expect([
    german({ quantity: '1000,5', limit: '272,405' }),
    german({ quantity: '1.000' }),
    english({ quantity: '1e3' }),
    english({ quantity: 'ten' }),
    english({ quantity: '', limit: '' }),
  ]).toEqual([
    'Verkaufen 1.000,5 AAPL Limit 272,405',
    'Verkaufen — AAPL Limit 254',
    'Sell — AAPL limit 254',
    'Sell — AAPL limit 254',
    'Sell AAPL limit',
  ]);
});

test('how long it lives is said with the day', () => {
  const life = (change: Partial<TicketForm>) =>
    lifeOf(bodyOf({ ...FORM, ...change }, 1, formatsOf({ locale: 'en-GB', timeZone: 'UTC' })), ENGLISH);
  expect([life({}), life({ tif: 'GTD', until: '2030-06-28' })]).toEqual(['Day', 'Good till date 2030-06-28']);
});
