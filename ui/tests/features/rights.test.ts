import { expect, test } from 'vitest';
import { linesOf, NO_LINES, rightsOf, rightsText } from '../../src/features/users/rights';

const ALL = { accounts: null, securities: null, interfaces: null };
const SOME = { accounts: [1, 2], securities: null, interfaces: ['REST', 'FIX'] };

test('rights are one line, and nothing where all is allowed', () => {
  expect([rightsText(ALL), rightsText(SOME)]).toEqual([null, '#1, #2 · * · REST, FIX']);
});

test('rights go into the form and come back the same', () => {
  expect(linesOf(SOME)).toEqual({ accounts: '1, 2', securities: '', interfaces: 'REST, FIX' });
  expect([rightsOf(linesOf(SOME)), rightsOf(NO_LINES)]).toEqual([SOME, ALL]);
});

test('what cannot be read is named at its line', () => {
  expect(rightsOf({ accounts: '1, x', securities: '0', interfaces: 'rest, telex' })).toEqual([
    { field: 'interfaces', code: 'malformed-field', reason: 'must be a list of REST, FIX, STOMP' },
    { field: 'accounts', code: 'malformed-field', reason: 'must be a list of ids' },
    { field: 'securities', code: 'malformed-field', reason: 'must be a list of ids' },
  ]);
});
