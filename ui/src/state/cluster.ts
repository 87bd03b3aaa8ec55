/** Cluster: who leads, and each member, read again and again while the server is a member of one. */

import type { Server } from '../wire/server';
import type { ClusterOverviewVO } from '../wire/types';
import type { Clock, Cluster, ClusterState } from './api';
import { Cell, derive } from './readable';

/** Members tell of themselves once a second. */
const POLL_EVERY_MS = 2_000;

export class ClusterStore implements Cluster {
  readonly state = new Cell<ClusterState | null>(null);
  readonly isMember = derive([this.state], (state) => state !== null);
  private isReading = false;

  constructor(
    private readonly server: Pick<Server, 'cluster'>,
    private readonly clock: Clock,
  ) {
    clock.every(POLL_EVERY_MS, () => this.isMember.get() && void this.poll());
  }

  /** At each connect: another member may answer now, or a server that is alone. */
  async load(): Promise<void> {
    this.show(await this.server.cluster());
  }

  /** What cannot be read stays, with the time of its reading: the screen shows how old it is. */
  private async poll(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    await this.load().catch(() => undefined);
    this.isReading = false;
  }

  private show(overview: ClusterOverviewVO): void {
    this.state.set(overview.role === 'alone' ? null : { overview, at: this.clock.now() });
  }
}
