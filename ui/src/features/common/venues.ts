/** A venue in words: what it is open for, where its orders go, and what its adapter was proven against. */

import type { Venue } from '../../state/api';
import type { Texts } from '../../texts';

/** Paper is part of the name, so that nobody takes its fills for real ones. */
export function venueLabel(
  { name, isAway, openFor, orders }: Pick<Venue, 'name' | 'isAway' | 'openFor' | 'orders'>,
  { venues, lines }: Pick<Texts, 'venues' | 'lines'>,
): string {
  const called = orders === 'PAPER' ? `${name} (${lines.orders.PAPER.word})` : name;
  if (isAway) return venues.away(called);
  return openFor === 'ORDERS' ? called : `${called}: ${lines.openFor[openFor]}`;
}

/** What a trader should know of a venue that is not part of the server. */
export function venueHints({ orders, proof }: Pick<Venue, 'orders' | 'proof'>, { orders: modes, proof: proofs }: Texts['lines']): string[] {
  const isOwn = proof === null || proof === 'OWN_VENUE';
  return [...(orders === null || isOwn ? [] : [modes[orders].hint]), ...(isOwn ? [] : [proofs[proof].hint])];
}
