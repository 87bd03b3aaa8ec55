/** Steps of an order: its events in order, with the time between them. */

import type { OrderStatusVO } from '../../wire/types';

export interface Step {
  event: OrderStatusVO;
  /** Milliseconds since the step before; nothing for the first. */
  afterMs: number | null;
}

export function stepsOf(events: readonly OrderStatusVO[]): Step[] {
  const ordered = [...events].sort((one, other) => one.sequenceNumber - other.sequenceNumber);
  return ordered.map((event, index) => {
    const before = ordered[index - 1];
    return { event, afterMs: before === undefined ? null : event.dateTime - before.dateTime };
  });
}
