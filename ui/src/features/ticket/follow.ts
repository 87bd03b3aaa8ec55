/** Follows the changes of one order, whichever strategy is selected. */

import type { Stop, Table } from '../../state/api';
import type { OrderVO } from '../../wire/types';

export function followOrder(orders: Table<string, OrderVO>, intId: string, onOrder: (order: OrderVO) => void): Stop {
  return orders.watch(({ upserted }) => {
    const found = upserted.find((order) => order.intId === intId);
    if (found !== undefined) onOrder(found);
  });
}
