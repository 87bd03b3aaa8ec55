/** Lists of orders without what strategies placed: a trader's own are not lost among thousands. */

import type { OrderVO } from '../wire/types';
import type { Orders, Readable, ShownOrders } from './api';
import { derive } from './readable';
import { View } from './table';

export function shownOrders(
  orders: Pick<Orders, 'open'>,
  strategy: Readable<number | null>,
  hidesStrategies: Readable<boolean>,
): ShownOrders {
  const isShown = derive([strategy, hidesStrategies], shownTo);
  return { open: new View(orders.open, isShown) };
}

/** Who selects a strategy wants to see its orders; what people and other programs placed is always shown. */
function shownTo(strategy: number | null, hidesStrategies: boolean): (order: OrderVO) => boolean {
  return (order) => !hidesStrategies || strategy !== null || order.source !== 'STRATEGY';
}
