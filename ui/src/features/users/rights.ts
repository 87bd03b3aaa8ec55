/** Trading rights of a user or a token: as one line of text, and from the lines of a form. */

import type { FieldError, TradingRights } from '../../wire/types';

const INTERFACES = ['REST', 'FIX', 'STOMP'];

/** `null` where nothing is limited. */
export function rightsText(rights: TradingRights): string | null {
  const parts = [rights.accounts?.map((id) => `#${id}`), rights.securities?.map((id) => `#${id}`), rights.interfaces];
  return parts.every((part) => part == null) ? null : parts.map((part) => part?.join(', ') ?? '*').join(' · ');
}

export interface RightsLines {
  accounts: string;
  securities: string;
  interfaces: string;
}

export const NO_LINES: RightsLines = { accounts: '', securities: '', interfaces: '' };

export function linesOf(rights: TradingRights): RightsLines {
  const line = (items: readonly (number | string)[] | null): string => items?.join(', ') ?? '';
  return { accounts: line(rights.accounts), securities: line(rights.securities), interfaces: line(rights.interfaces) };
}

/** An empty line allows everything. */
export function rightsOf(lines: RightsLines): TradingRights | FieldError[] {
  const faults: FieldError[] = [];
  const items = (field: keyof RightsLines): string[] | null => {
    const found = lines[field].split(',').map((item) => item.trim()).filter((item) => item !== '');
    return found.length === 0 ? null : found;
  };
  const ids = (field: 'accounts' | 'securities'): number[] | null => {
    const found = items(field);
    if (found?.some((item) => !/^[1-9]\d{0,14}$/.test(item)) === true) {
      faults.push({ field, code: 'malformed-field', reason: 'must be a list of ids' });
    }
    return found?.map(Number) ?? null;
  };
  const names = items('interfaces')?.map((name) => name.toUpperCase()) ?? null;
  if (names?.some((name) => !INTERFACES.includes(name)) === true) {
    faults.push({ field: 'interfaces', code: 'malformed-field', reason: `must be a list of ${INTERFACES.join(', ')}` });
  }
  const rights = { accounts: ids('accounts'), securities: ids('securities'), interfaces: names };
  return faults.length > 0 ? faults : rights;
}
