/** What may be asked of an open order, and why not. */

import { isOpen } from '../../state/orders';
import type { OrderVO } from '../../wire/types';
import type { Texts } from '../../texts';

export function cancelRefusal(order: OrderVO, mayTrade: boolean, refusal: Texts['refusal']): string | undefined {
  if (!mayTrade) return refusal.needsTrader;
  return order.status === 'PENDING_CANCEL' ? refusal.cancelPending : undefined;
}

/** A venue takes one change at a time. */
export function modifyRefusal(order: OrderVO, mayTrade: boolean, refusal: Texts['refusal']): string | undefined {
  const hindrance = cancelRefusal(order, mayTrade, refusal);
  if (hindrance !== undefined) return hindrance;
  return order.status === 'PENDING_REPLACE' ? refusal.changePending : undefined;
}

/** The orders that one question is about, and how many more a filter or the strategy selector keeps out of sight. */
export interface Sweep {
  intIds: readonly string[];
  hidden: number;
}

/** Only what is in sight is cancelled, and of that only what is not being cancelled already. `all` is of every strategy. */
export function sweepOf(inSight: readonly OrderVO[], all: readonly OrderVO[]): Sweep {
  const openCount = all.filter(isOpen).length;
  const meant = inSight.filter((order) => order.status !== 'PENDING_CANCEL');
  return { intIds: meant.map((order) => order.intId), hidden: Math.max(0, openCount - inSight.length) };
}
