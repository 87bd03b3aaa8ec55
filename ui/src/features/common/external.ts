/** Orders that were not placed here: from a telephone, another program, or by the venue itself. They belong to a strategy of their own. */

import type { OrderVO, StrategyVO } from '../../wire/types';

/** The server makes this strategy with the first such order, after this screen has read the others. */
const EXTERNAL = { id: 999_999_999_999_999, name: 'EXTERNAL' };

export function isExternal({ strategyId }: Pick<OrderVO, 'strategyId'>): boolean {
  return strategyId === EXTERNAL.id;
}

/** Nobody orders in its name, and no order is claimed for it. */
export function isReserved({ name }: Pick<StrategyVO, 'name'>): boolean {
  return name === EXTERNAL.name;
}
