/** Order dispatch: an order keeps its id until the server has accepted it, so that sending again after a lost answer cannot trade twice. */

import { WireError } from '../../wire/error';
import type { OrderBody, OrderVO } from '../../wire/types';

const RANDOM_BYTES = 12;
const DUPLICATE = 'duplicate-order';

/** The order of an earlier attempt is live with other terms than the ticket has now: nothing more was sent. */
export class EarlierOrder extends Error {
  constructor(readonly intId: string) {
    super(`${intId} is there already, with other terms`);
    this.name = 'EarlierOrder';
  }
}

export class Dispatch {
  private intId: string | null = null;

  constructor(
    private readonly place: (order: OrderBody) => Promise<string>,
    private readonly newId: () => string = randomId,
  ) {}

  /** The id of an order that may or may not have arrived. */
  get unsettled(): string | null {
    return this.intId;
  }

  /** It arrived: the next order has another id. */
  settle(): void {
    this.intId = null;
  }

  /** Gives the id of the live order. A refused order leaves no trace, so its id is used for the next attempt. */
  async send(order: OrderBody): Promise<string> {
    const intId = (this.intId ??= this.newId());
    const placed = await this.place({ ...order, intId }).catch((error: unknown) => livesAlready(error, intId));
    this.intId = null;
    if (typeof placed === 'string') return placed;
    if (placed.order !== null && !isMeant(placed.order, order)) throw new EarlierOrder(intId);
    return intId;
  }
}

/** Only a duplicate id means that the order exists; all other failures are thrown. */
function livesAlready(error: unknown, intId: string): { order: OrderVO | null } {
  const isOurs = error instanceof WireError && error.code === DUPLICATE && (error.order?.intId ?? intId) === intId;
  if (!isOurs) throw error;
  return { order: error.order };
}

function isMeant(live: OrderVO, order: OrderBody): boolean {
  return (
    live.objectType === order.objectType &&
    live.securityId === order.securityId &&
    live.side === order.side &&
    live.quantity === order.quantity &&
    (live.limit ?? null) === (order.limit ?? null) &&
    (live.stop ?? null) === (order.stop ?? null)
  );
}

/** `crypto.randomUUID` is missing where the screen comes over plain HTTP from another machine. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  return `UI-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
