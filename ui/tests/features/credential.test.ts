import { expect, test } from 'vitest';
import { credentialFaults, type Credential } from '../../src/features/users/credential';

const USER: Credential = { kind: 'user', name: 'anna', password: 'correct horse', role: 'TRADER', strategy: '', days: '' };
const wrong = (change: Partial<Credential>) => credentialFaults({ ...USER, ...change }).map(({ field, code }) => `${field} ${code}`);

test('a user has a name and a password, a strategy where the role needs one', () => {
  expect(wrong({})).toEqual([]);
  expect(wrong({ name: '', password: '', role: 'STRATEGY' })).toEqual(['name missing', 'password missing', 'strategy missing']);
  expect(wrong({ name: 'Anna Müller', password: 'short' })).toEqual(['name malformed-field', 'password malformed-field']);
  expect(wrong({ name: 'x'.repeat(65) })).toEqual(['name malformed-field']);
});

test('a token lives some days, or as long as the server says', () => {
  const token = (days: string) => wrong({ kind: 'token', password: '', days });
  expect(['', ' 30 ', '3650', '0', '3651', '1.5', 'soon'].map(token)).toEqual([
    [],
    [],
    [],
    ['days malformed-field'],
    ['days malformed-field'],
    ['days malformed-field'],
    ['days malformed-field'],
  ]);
});
