/** Properties of an order in words: what else was asked of its execution. */

import type { Texts } from '../../texts';
import { NOTHING, type Formats } from '../../texts/formats';
import type { OrderBody } from '../../wire/types';

type Properties = Pick<OrderBody, 'postOnly' | 'displayQuantity' | 'minQuantity' | 'reduceOnly'>;

export function propertiesOf(order: Properties, { ticket }: Texts, formats: Formats): string[] {
  const amount = (name: string, value: Properties['minQuantity']): string =>
    value === undefined ? '' : `${name} ${typeof value === 'number' ? formats.quantity(value) : NOTHING}`;
  const words = [
    order.postOnly === true ? ticket.postOnly : '',
    amount(ticket.displayQuantity, order.displayQuantity),
    amount(ticket.minQuantity, order.minQuantity),
    order.reduceOnly === true ? ticket.reduceOnly : '',
  ];
  return words.filter((word) => word !== '');
}
