/** Which of the first steps have been done on this screen. */

import type { OrderVO, PositionVO } from '../../wire/types';

export interface StepsDone {
  bought: boolean;
  filled: boolean;
  closed: boolean;
}

/** A purchase from the screen, its fill, and no position left in what was bought. */
export function stepsDone(orders: readonly OrderVO[], positions: readonly PositionVO[]): StepsDone {
  const bought = orders.filter(({ source, side }) => source === 'UI' && side === 'BUY');
  const filled = bought.filter(({ filledQuantity }) => filledQuantity > 0);
  const isFlat = ({ securityId, strategyId }: OrderVO): boolean =>
    positions.some((held) => held.securityId === securityId && held.strategyId === strategyId && held.quantity === 0);
  return { bought: bought.length > 0, filled: filled.length > 0, closed: filled.some(isFlat) };
}
