/** Rules for actions on an open order: whether an action is allowed, and why not. */

import { isOpen } from '../../state/orders';
import type { OrderVO } from '../../wire/types';
import type { Texts } from '../../texts';

export function cancelRefusal(order: OrderVO, mayTrade: boolean, refusal: Texts['refusal']): string | undefined {
  if (!mayTrade) return refusal.needsTrader;
  return order.status === 'PENDING_CANCEL' ? refusal.cancelPending : undefined;
}

/** A venue accepts one change at a time. */
export function modifyRefusal(order: OrderVO, mayTrade: boolean, refusal: Texts['refusal']): string | undefined {
  const hindrance = cancelRefusal(order, mayTrade, refusal);
  if (hindrance !== undefined) return hindrance;
  return order.status === 'PENDING_REPLACE' ? refusal.changePending : undefined;
}

/** Orders that "cancel all" is about, and how many more are hidden by a filter or the strategy selector. */
export interface Sweep {
  intIds: readonly string[];
  hidden: number;
}

/** Only visible orders are cancelled, without those that are being cancelled already. `all` is of every strategy. */
export function sweepOf(inSight: readonly OrderVO[], all: readonly OrderVO[]): Sweep {
  const openCount = all.filter(isOpen).length;
  const meant = inSight.filter((order) => order.status !== 'PENDING_CANCEL');
  return { intIds: meant.map((order) => order.intId), hidden: Math.max(0, openCount - inSight.length) };
}
