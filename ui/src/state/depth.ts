/** Order book and trades of one security, live until they are closed. */

import { decodeText } from '../wire/decode';
import { orderBook, trade as tradeDecoder } from '../wire/decoders';
import type { Feed, Message } from '../wire/feed';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { OrderBook, Trade } from '../wire/types';
import type { Clock, Freshness, LiveBook, LiveTrades, Readable, Stop } from './api';
import { Join, type JoinTools } from './join';
import { Cell } from './readable';

/** How many trades the tape has. */
export const TRADES_MAX = 200;

export class Book implements LiveBook {
  private readonly cell = new Cell<OrderBook | null>(null);
  private readonly join: Join<OrderBook[], OrderBook>;

  constructor(securityId: number, tools: JoinTools & { server: Pick<Server, 'books'> }) {
    const show = oncePerFrame<OrderBook | null>(tools.clock, (book) => this.cell.set(book));
    this.join = new Join<OrderBook[], OrderBook>(
      {
        topic: topics.book(securityId),
        decoder: orderBook,
        snapshot: () => tools.server.books(securityId),
        reset: ([book]) => show(book ?? null),
        apply: (book) => show(book),
      },
      tools,
    );
  }

  get freshness(): Readable<Freshness> {
    return this.join.freshness;
  }

  get(): OrderBook | null {
    return this.cell.get();
  }

  subscribe(run: (book: OrderBook | null) => void): Stop {
    return this.cell.subscribe(run);
  }

  close(): void {
    this.join.close();
  }
}

/** Newest first. */
export class Tape implements LiveTrades {
  private readonly cell = new Cell<readonly Trade[]>([]);
  private readonly stop: Stop;

  constructor(securityId: number, tools: { feed: Feed; clock: Clock; onTrouble(error: unknown): void }) {
    let trades: readonly Trade[] = [];
    const show = oncePerFrame<readonly Trade[]>(tools.clock, (all) => this.cell.set(all));
    const message = ({ body }: Message) => {
      try {
        trades = [decodeText(tradeDecoder, body), ...trades].slice(0, TRADES_MAX);
        show(trades);
      } catch (error) {
        tools.onTrouble(error);
      }
    };
    this.stop = tools.feed.subscribe(topics.trade(securityId), { message });
  }

  get(): readonly Trade[] {
    return this.cell.get();
  }

  subscribe(run: (trades: readonly Trade[]) => void): Stop {
    return this.cell.subscribe(run);
  }

  close(): void {
    this.stop();
  }
}

/** Of several values within a frame only the newest is shown. */
function oncePerFrame<T>(clock: Clock, show: (value: T) => void): (value: T) => void {
  let waiting: { value: T } | null = null;
  return (value) => {
    const isRequested = waiting !== null;
    waiting = { value };
    if (isRequested) return;
    clock.onFrame(() => {
      const newest = waiting;
      waiting = null;
      if (newest) show(newest.value);
    });
  };
}
