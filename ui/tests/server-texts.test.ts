/** Server texts in both languages: by code, with their values, and unchanged where a text is unknown. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Messages } from '../src/state/messages';
import { ENGLISH, loadTexts } from '../src/texts';
import { formatsOf } from '../src/texts/formats';
import { WireError } from '../src/wire/error';

const german = await loadTexts('de');
const inEnglish = new Messages(ENGLISH, formatsOf({ locale: 'en-GB', timeZone: 'UTC' }));
const inGerman = new Messages(german, formatsOf({ locale: 'de-DE', timeZone: 'UTC' }));

test.each([
  ['insufficient-cash', 'needs 500005500 USD, available are 949013.9754 USD', 'needs 500,005,500 USD, the account has 949,013.9754 USD available', 'braucht 500.005.500 USD, auf dem Konto verfügbar sind 949.013,9754 USD'],
  ['not-a-multiple', 'quantity 10.5 is not a multiple of 1', 'quantity 10.5 is not a multiple of 1', 'Menge 10,5 ist kein Vielfaches von 1'],
  ['max-order-notional', 'PLATFORM: 250000 is above the limit of 100000', 'PLATFORM: 250,000 is above the limit of 100,000', 'Wert der Order: 250.000 liegt über der Grenze von 100.000 (PLATFORM)'],
  ['trading-halted', 'trading is HALTED for PLATFORM', 'trading is HALTED for PLATFORM', 'der Handel ist angehalten: PLATFORM'],
  ['malformed-field', 'must be a number', 'must be a number', 'muss eine Zahl sein'],
  ['malformed-field', 'must have at least 8 characters', 'must have at least 8 characters', 'muss mindestens 8 Zeichen haben'],
  ['malformed-field', 'must be 1 to 64 letters, digits or any of . _ @ -', 'must be 1 to 64 letters, digits or any of . _ @ -', 'muss 1 bis 64 Buchstaben, Ziffern oder . _ @ - haben'],
  ['malformed-field', 'a token lives from 1 to 3650 days', 'a token lives from 1 to 3,650 days', 'ein Schlüssel gilt 1 bis 3.650 Tage'],
  ['price-collar', 'price 272.5 is more than 5 % through the reference of 250', 'price 272.5 is more than 5 % through the reference of 250', 'der Preis 272,5 liegt um mehr als 5 % jenseits von 250'],
  ['would-flip', 'may only reduce the position, of which 1200 can be closed beside orders on their way', 'may only reduce the position, of which 1,200 can be closed beside orders on their way', 'darf die Position nur verringern; neben Orders, die unterwegs sind, lassen sich 1.200 schließen'],
  ['name-taken', 'there is a user called anna already', 'there is a user called anna already', 'den Namen anna gibt es schon'],
  ['wrong-credentials', 'the user, the password or the token is wrong, or the token has expired', 'the user, the password or the token is wrong, or the token has expired', 'Benutzer, Passwort oder Schlüssel ist falsch, oder der Schlüssel ist abgelaufen'],
  ['strategy-runs', 'strategy TREND runs already', 'strategy TREND runs already', 'Strategie TREND läuft schon'],
  ['unknown-strategy', 'strategy X 2 is not known', 'strategy X 2 is not known', 'Strategie X 2 ist nicht bekannt'],
  ['unreachable', 'the server cannot be reached', 'the server cannot be reached', 'der Server ist nicht erreichbar'],
  ['order-closed', 'order 2026 is finished', 'order 2026 is finished', 'Order 2026 ist beendet'],
  // The server has learned new words for a code that is known, or a new code.
  ['internal', 'the work on 1200 rows broke off', 'the work on 1,200 rows broke off', 'ein Fehler des Servers (the work on 1.200 rows broke off)'],
  ['something-new', 'order ALPHA-17 has 1000 faults', 'order ALPHA-17 has 1,000 faults', 'order ALPHA-17 has 1.000 faults'],
])('%s: %s', (code, text, english, deutsch) => {
  expect([inEnglish.text(code, text), inGerman.text(code, text)]).toEqual([english, deutsch]);
});

test('the reason of an order comes without a code, and ids in it are no amounts', () => {
  const reasons = ['needs 1000 USD, available are 10.5 USD', 'PLATFORM: 2000 is above the limit of 1000', 'order 1234 of account 5678 found 1000 shares'];
  expect(reasons.map((reason) => inGerman.text(null, reason))).toEqual([
    'braucht 1.000 USD, auf dem Konto verfügbar sind 10,5 USD',
    'über der Grenze: 2.000, erlaubt sind 1.000 (PLATFORM)',
    'order 1234 of account 5678 found 1.000 shares',
  ]);
});

test('every code of the interface has a German sentence', () => {
  const codes = [...readFileSync('../docs/errors.md', 'utf8').matchAll(/^\| \d+ \| `([\w-]+)` \|/gm)].map(([, code]) => code ?? '');
  expect(codes.length).toBeGreaterThan(100);
  expect(codes.filter((code) => !(code in german.server.general))).toEqual([]);
});

test('all faults of a form are told at once, at their fields, and what has no field beside them', () => {
  const error = WireError.ofFields([
    { field: 'name', code: 'missing', reason: 'is needed' },
    { field: 'password', code: 'malformed-field', reason: 'must have at least 8 characters' },
    { field: 'password', code: 'malformed-field', reason: 'must be a text' },
    { field: 'role', code: 'malformed-field', reason: 'must be one of VIEWER, ADMIN' },
  ]);
  expect(inGerman.faults(error, ['name', 'password'])).toEqual({
    fields: { name: 'wird gebraucht', password: 'muss mindestens 8 Zeichen haben; muss ein Text sein' },
    general: 'Rolle muss eines von VIEWER, ADMIN sein',
  });
  expect(inGerman.error(WireError.unreachable())).toBe('der Server ist nicht erreichbar');
  expect(inGerman.error(new Error('torn'))).toBe('torn');
});
