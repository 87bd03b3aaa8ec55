/** Scope labels of limits and trading states, as the screen names them: `STRATEGY-2` is the strategy of that id. */

import type { Reference } from '../../state/api';

const SCOPE = /^(ACCOUNT|STRATEGY|SECURITY)-(\d+)$/;

/** Label of a scope: the name of its object; a scope without an id is its own label. */
export function scopeName(scope: string, reference: Reference): string {
  const [, kind, digits] = SCOPE.exec(scope) ?? [];
  const id = Number(digits);
  switch (kind) {
    case 'ACCOUNT':
      return reference.accountName(id);
    case 'STRATEGY':
      return reference.strategyName(id);
    case 'SECURITY':
      return reference.symbol(id);
    default:
      return scope;
  }
}
