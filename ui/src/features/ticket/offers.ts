/** Which order properties the venue of an order offers. The dry run has the last word; here is what can be known before. */

import type { AccountVO, AdapterVO, SecurityVO } from '../../wire/types';
import { isOf } from '../common/adapters';
import type { TicketForm } from './form';

export type Property = 'postOnly' | 'displayQuantity' | 'minQuantity' | 'reduceOnly';

/** What the choice of a venue depends on. */
export type Routed = Pick<TicketForm, 'accountId' | 'exchangeId'>;

/** The adapter of the chosen account, else those that serve the exchange. */
export function adaptersFor(
  form: Routed,
  security: SecurityVO | null,
  adapters: readonly AdapterVO[],
  accounts: readonly AccountVO[],
): readonly AdapterVO[] {
  const account = accounts.find(({ id }) => id === form.accountId);
  if (account) return adapters.filter((adapter) => isOf(account, adapter));
  const exchangeId = form.exchangeId ?? security?.exchangeId ?? 0;
  return adapters.filter(({ exchangeIds }) => exchangeIds.includes(exchangeId));
}

/** The venues that do not offer it, where none of them does; empty where one does, or where no venue is known. */
export function lackingAt(property: Property, adapters: readonly AdapterVO[]): string {
  if (adapters.some(({ orderProperties }) => orderProperties.includes(property))) return '';
  return adapters.map(({ name, sessionQualifier }) => sessionQualifier ?? name).join(', ');
}
