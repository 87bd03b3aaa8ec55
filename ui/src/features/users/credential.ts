/**
 * Validation of a new user or token: all faults at once, with the server's texts. The server finds the same faults, but stops at
 * the first one.
 */

import type { FieldError, Role } from '../../wire/types';

const NAME = /^[A-Za-z0-9._@-]{1,64}$/;
const PASSWORD_LENGTH_MIN = 8;
const TOKEN_DAYS_MAX = 3_650;

export interface Credential {
  kind: 'user' | 'token';
  name: string;
  password: string;
  role: Role;
  strategy: string;
  /** Empty: as many as the server gives. */
  days: string;
}

export function credentialFaults({ kind, name, password, role, strategy, days }: Credential): FieldError[] {
  const malformed = (field: string, reason: string): FieldError => ({ field, code: 'malformed-field', reason });
  const missing = (field: string): FieldError => ({ field, code: 'missing', reason: 'is needed' });
  const faults: FieldError[] = [];
  if (name === '') faults.push(missing('name'));
  else if (!NAME.test(name)) faults.push(malformed('name', 'must be 1 to 64 letters, digits or any of . _ @ -'));
  if (kind === 'user' && password === '') faults.push(missing('password'));
  else if (kind === 'user' && [...password].length < PASSWORD_LENGTH_MIN) {
    faults.push(malformed('password', `must have at least ${PASSWORD_LENGTH_MIN} characters`));
  }
  if (kind === 'token' && !isLife(days)) faults.push(malformed('days', `a token lives from 1 to ${TOKEN_DAYS_MAX} days`));
  if (role === 'STRATEGY' && strategy === '') faults.push(missing('strategy'));
  return faults;
}

function isLife(days: string): boolean {
  const text = days.trim();
  return text === '' || (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= TOKEN_DAYS_MAX);
}
