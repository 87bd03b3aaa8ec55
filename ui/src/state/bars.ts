/** Bar series of one security and size: the bars that the server has closed, and the open bar that grows with the ticks. */

import { bar as barDecoder } from '../wire/decoders';
import type { Snapshot } from '../wire/rest';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { Bar, BarSize, Tick } from '../wire/types';
import type { BarSeries, Freshness, Market, Readable, Stop } from './api';
import { GrowingBar, PARTS, PARTS_MAX } from './growing';
import { Join, type JoinTools } from './join';
import { Cell } from './readable';

/** How many bars a chart has, at the most. */
export const BARS_MAX = 1_000;

/** The closed bars, and the smaller bars that make up the open one so far. */
interface Bars {
  closed: readonly Bar[];
  parts: readonly (readonly Bar[])[];
}

export interface BarsTools extends JoinTools {
  server: Pick<Server, 'bars'>;
  market: Market;
}

export class LiveBars implements BarSeries {
  private readonly bars = new Cell<readonly Bar[]>([]);
  private readonly join: Join<Bars, Bar>;
  private readonly stops: Stop[];
  private closed: readonly Bar[] = [];
  /** Before the closed bars have arrived, the open bar alone would fill the whole chart. */
  private hasSnapshot = false;
  private readonly growing: GrowingBar;

  constructor(securityId: number, size: BarSize, tools: BarsTools) {
    this.growing = new GrowingBar(size);
    this.join = new Join(
      {
        topic: topics.bar(securityId, size),
        decoder: barDecoder,
        snapshot: () => snapshotOf(tools.server, securityId, size),
        reset: (bars) => this.reset(bars),
        apply: (bar) => this.append(bar),
      },
      tools,
    );
    this.stops = [
      tools.market.want([securityId]),
      tools.market.quotes.watch(({ upserted }) => {
        const quote = upserted.find((candidate) => candidate.securityId === securityId);
        if (quote) this.grow(quote.tick);
      }),
    ];
  }

  get freshness(): Readable<Freshness> {
    return this.join.freshness;
  }

  get(): readonly Bar[] {
    return this.bars.get();
  }

  subscribe(run: (bars: readonly Bar[]) => void): Stop {
    return this.bars.subscribe(run);
  }

  close(): void {
    this.join.close();
    for (const stop of this.stops) stop();
  }

  private reset({ closed, parts }: Bars): void {
    this.hasSnapshot = true;
    this.closed = closed;
    this.growing.begin(parts);
    this.show();
  }

  private append(bar: Bar): void {
    const older = this.closed.filter((known) => known.dateTime < bar.dateTime);
    this.closed = [...older, bar].slice(-BARS_MAX);
    this.show();
  }

  private grow(tick: Tick): void {
    const before = this.growing.get();
    this.growing.apply(tick);
    if (this.growing.get() !== before) this.show();
  }

  private show(): void {
    if (!this.hasSnapshot) return;
    const last = this.closed.at(-1)?.dateTime ?? 0;
    const growing = this.growing.get();
    this.bars.set(growing !== null && growing.dateTime > last ? [...this.closed, growing] : this.closed);
  }
}

async function snapshotOf(server: Pick<Server, 'bars'>, securityId: number, size: BarSize): Promise<Snapshot<Bars>> {
  const [{ sequence, value: closed }, ...smaller] = await Promise.all([
    server.bars([securityId], size, BARS_MAX),
    ...PARTS[size].map((part) => server.bars([securityId], part, PARTS_MAX)),
  ]);
  return { sequence, value: { closed, parts: smaller.map(({ value }) => value) } };
}
