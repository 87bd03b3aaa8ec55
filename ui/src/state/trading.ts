/** Trading commands. A call returns when the server has journaled it; reports of the venue arrive on the topics. */

import { WireError } from '../wire/error';
import type { Server } from '../wire/server';
import type { IdentityVO, OrderBody, OrderVO, VerdictVO } from '../wire/types';
import type { Readable, Table, Trading } from './api';
import { derive } from './readable';

const NOT_FOUND = 404;
/** Most cancels that are sent at the same time. */
const CANCELS_AT_ONCE = 8;

type Source = Pick<Server, 'order' | 'orderEvents' | 'place' | 'modify' | 'cancel' | 'claim' | 'check' | 'checkChange' | 'reducePosition'>;

export class TradingStore implements Trading {
  readonly mayTrade: Readable<boolean>;

  constructor(
    private readonly server: Source,
    private readonly open: Table<string, OrderVO>,
    identity: Readable<IdentityVO | null>,
  ) {
    this.mayTrade = derive([identity], (who) => who !== null && who.role !== 'VIEWER');
  }

  place(order: OrderBody): Promise<string> {
    return this.server.place(order);
  }

  modify(order: OrderBody & { intId: string }): Promise<void> {
    return this.server.modify(order);
  }

  /** Only a reply of the server that it has no such order counts as none. */
  async exists(intId: string): Promise<boolean> {
    const isThere = (found: Promise<readonly unknown[]>) => found.then(({ length }) => length > 0, isUnknown);
    return (await isThere(this.server.order(intId))) || (await isThere(this.server.orderEvents(intId)));
  }

  cancel(intId: string): Promise<void> {
    return this.server.cancel(intId);
  }

  claim(intId: string, strategy: string): Promise<void> {
    return this.server.claim(intId, strategy);
  }

  async cancelAll(intIds: readonly string[]): Promise<{ requested: number; failed: number }> {
    const isMeant = (intId: string) => (this.open.row(intId)?.status ?? 'PENDING_CANCEL') !== 'PENDING_CANCEL';
    const waiting = intIds.filter(isMeant);
    const requested = waiting.length;
    let failed = 0;
    const work = async () => {
      for (let intId = waiting.shift(); intId !== undefined; intId = waiting.shift()) {
        failed += await this.server.cancel(intId).then(() => 0, isNotGone);
      }
    };
    await Promise.all(Array.from({ length: CANCELS_AT_ONCE }, work));
    return { requested, failed };
  }

  check(order: OrderBody, signal?: AbortSignal): Promise<VerdictVO> {
    return this.server.check(order, signal);
  }

  checkChange(change: OrderBody, signal?: AbortSignal): Promise<VerdictVO> {
    return this.server.checkChange(change, signal);
  }

  reducePosition(positionId: number, quantity: number): Promise<void> {
    return this.server.reducePosition(positionId, quantity);
  }
}

function isUnknown(error: unknown): false {
  if (error instanceof WireError && error.status === NOT_FOUND) return false;
  throw error;
}

/** An order that was done before its cancel arrived is no failure. */
function isNotGone(error: unknown): number {
  return error instanceof WireError && error.status === 409 ? 0 : 1;
}
