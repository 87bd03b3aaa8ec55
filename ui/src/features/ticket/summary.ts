/** Summary of an order in one line, as it is sent: the kind, every price, and numbers as they were parsed. */

import type { Texts } from '../../texts';
import { NOTHING, type Formats } from '../../texts/formats';
import type { OrderBody } from '../../wire/types';
import { propertiesOf } from '../common/properties';
import { hasLimit, hasStop } from './form';

type Amount = OrderBody['quantity'];

export function summaryOf(order: OrderBody, symbol: string, texts: Texts, formats: Formats): string {
  const side = texts.common[order.side === 'BUY' ? 'buy' : 'sell'];
  const words = [side, understood(order.quantity, formats), symbol, ...pricesOf(order, texts, formats), ...propertiesOf(order, texts, formats).map((word) => `· ${word}`)];
  return words.filter((word) => word !== '').join(' ');
}

function pricesOf({ objectType, stop, limit }: OrderBody, { ticket }: Texts, formats: Formats): string[] {
  const atStop = hasStop(objectType) ? [ticket.atStop, understood(stop, formats)] : [];
  const atLimit = hasLimit(objectType) ? [ticket.atLimit, understood(limit, formats)] : [];
  const prices = [...atStop, ...atLimit];
  return prices.length > 0 ? prices : [ticket.market];
}

/** How long the order lives, with the day that it is good till. */
export function lifeOf({ tif, tifDateTime }: OrderBody, texts: Texts): string {
  const life = texts.tif[tif ?? 'DAY'];
  return tifDateTime === undefined ? life : `${life} ${tifDateTime}`;
}

/** What is not yet written is left out; what is no number must not look like one. */
function understood(value: Amount, formats: Formats): string {
  if (value === undefined) return '';
  return typeof value === 'number' ? formats.quantity(value) : NOTHING;
}
