import { expect, test } from 'vitest';
import { formatsOf } from '../src/texts/formats';
import { serverText } from '../src/texts/server';

const english = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const german = formatsOf({ locale: 'de-DE', timeZone: 'UTC' });

test.each([
  ['insufficient-cash', 'needs 500005500 USD, available are 949013.9754 USD', 'needs 500,005,500 USD, the account has 949,013.9754 USD available', 'braucht 500.005.500 USD, auf dem Konto verfügbar sind 949.013,9754 USD'],
  ['not-a-multiple', 'quantity 10.5 is not a multiple of 1', 'quantity 10.5 is not a multiple of 1', 'Menge 10,5 ist kein Vielfaches von 1'],
  ['max-order-notional', 'PLATFORM: 250000 is above the limit of 100000', 'PLATFORM: 250,000 is above the limit of 100,000', 'Wert der Order: 250.000 liegt über der Grenze von 100.000 (PLATFORM)'],
  ['trading-halted', 'trading is HALTED for PLATFORM', 'trading is HALTED for PLATFORM', 'der Handel ist angehalten: PLATFORM'],
  ['malformed-field', 'must be a number', 'must be a number', 'muss eine Zahl sein'],
  ['something-new', 'order ALPHA-17 has 1000 faults', 'order ALPHA-17 has 1,000 faults', 'order ALPHA-17 has 1.000 faults'],
])('%s is said in both languages', (code, text, inEnglish, inGerman) => {
  expect([serverText('en', english, code, text), serverText('de', german, code, text)]).toEqual([inEnglish, inGerman]);
});
