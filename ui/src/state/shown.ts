/** Order lists without orders of strategies, so that a trader finds manual orders among thousands. */

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

/** Orders of a selected strategy are shown; orders of users and other programs are always shown. */
function shownTo(strategy: number | null, hidesStrategies: boolean): (order: OrderVO) => boolean {
  return (order) => !hidesStrategies || strategy !== null || order.source !== 'STRATEGY';
}
