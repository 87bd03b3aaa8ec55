/** Where the orders of a venue go, and what its adapter was proven against, in words. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { venueHints, venueLabel } from '../../src/features/common/venues';
import type { Venue } from '../../src/state/api';
import { ENGLISH, loadTexts } from '../../src/texts';
import type { AdapterVO } from '../../src/wire/types';

const german = await loadTexts('de');
const PAPER: Venue = { key: 'BINANCE-SPOT-LOOK', name: 'LOOK', isAway: false, openFor: 'ORDERS', lines: [], orders: 'PAPER', proof: 'LAB' };

test('a paper venue says so in its name, whatever it is open for', () => {
  const label = (venue: Partial<Venue>, texts = ENGLISH) => venueLabel({ ...PAPER, ...venue }, texts);
  expect([label({}), label({ openFor: 'REDUCE' }), label({ isAway: true }), label({}, german)]).toEqual([
    'LOOK (paper)',
    'LOOK (paper): reduce only',
    'LOOK (paper) away',
    'LOOK (Papier)',
  ]);
  expect([label({ orders: 'LIVE' }), label({ orders: 'SIMULATED' }), label({ orders: null })]).toEqual(['LOOK', 'LOOK', 'LOOK']);
});

test('what an adapter was proven against is told in full words, except of venues of the server itself', () => {
  expect(venueHints(PAPER, ENGLISH.lines)).toEqual([
    'Paper: real prices, simulated fills. No order leaves',
    'proven against the lab, not yet against the venue',
  ]);
  expect(venueHints({ ...PAPER, orders: 'LIVE' }, german.lines)).toEqual(['Orders gehen an den Handelsplatz', 'am Labor erprobt, noch nicht am Handelsplatz']);
  const { orders, proof } = JSON.parse(readFileSync('../contract/json/AdapterVO.json', 'utf8')) as AdapterVO;
  expect([orders, proof, venueHints({ orders, proof }, ENGLISH.lines), venueHints({ orders: null, proof: null }, ENGLISH.lines)]).toEqual([
    'SIMULATED',
    'OWN_VENUE',
    [],
    [],
  ]);
});
