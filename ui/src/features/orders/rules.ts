/** Rules for actions on an open order: whether an action is allowed, and why not. */

import { isOpen } from '../../state/orders';
import { isOf } from '../common/adapters';
import type { AccountVO, AdapterVO, OrderVO } from '../../wire/types';
import type { Texts } from '../../texts';

/** Whether the order stays at its venue until that fills or ends it: the venue takes no cancels. */
export type Stays = (order: Pick<OrderVO, 'accountId'>) => boolean;

export function staysAt(adapters: readonly AdapterVO[], accounts: readonly AccountVO[]): Stays {
  const lacking = adapters.filter(({ cancel }) => cancel === 'NONE');
  return ({ accountId }) => lacking.some((adapter) => accounts.some((account) => account.id === accountId && isOf(account, adapter)));
}

export function cancelRefusal(order: OrderVO, stays: Stays, refusal: Texts['refusal']): string | undefined {
  if (stays(order)) return refusal.noCancels;
  return order.status === 'PENDING_CANCEL' ? refusal.cancelPending : undefined;
}

/** A venue accepts one change at a time. */
export function modifyRefusal({ status }: OrderVO, refusal: Texts['refusal']): string | undefined {
  if (status === 'PENDING_CANCEL') return refusal.cancelPending;
  return status === 'PENDING_REPLACE' ? refusal.changePending : undefined;
}

/** Orders that "cancel all" is about, and how many more are hidden by a filter or the strategy selector. */
export interface Sweep {
  intIds: readonly string[];
  hidden: number;
}

/** Only visible orders are cancelled, without those that are being cancelled already or cannot be. `all` is of every strategy. */
export function sweepOf(inSight: readonly OrderVO[], all: readonly OrderVO[], stays: Stays): Sweep {
  const openCount = all.filter(isOpen).length;
  const meant = inSight.filter((order) => order.status !== 'PENDING_CANCEL' && !stays(order));
  return { intIds: meant.map((order) => order.intId), hidden: Math.max(0, openCount - inSight.length) };
}
