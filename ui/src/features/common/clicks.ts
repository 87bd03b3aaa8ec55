/** What a click on a price means, the same in every widget: it trades against that price. */

import type { Texts } from '../../texts';
import type { Side } from '../../wire/types';

export type QuoteSide = 'bid' | 'ask';

/** A click on the ask buys, a click on the bid sells. */
export const CLICKED: Record<QuoteSide, Side> = { bid: 'SELL', ask: 'BUY' };

/** `Buy @ 272.35, 300 offered`; the quantity is what stands there, not what the ticket will send. */
export function clickName(texts: Texts, quoteSide: QuoteSide, price: string, quantity: string | null): string {
  const { buyAt, sellAt, offered, wanted } = texts.book;
  const [name, there] = quoteSide === 'ask' ? [buyAt(price), offered] : [sellAt(price), wanted];
  return quantity === null ? name : `${name}, ${there(quantity)}`;
}
