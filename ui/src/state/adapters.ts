/** Adapters: what each says of its lines and of what its venue offers. */

import type { Server } from '../wire/server';
import type { AdapterVO } from '../wire/types';
import type { Clock } from './api';
import { Rows } from './table';

/** Events that come together cause one request, in milliseconds. */
const REFRESH_AFTER_MS = 200;

export class AdapterList {
  readonly rows: Rows<string, AdapterVO>;
  private isRequested = false;

  constructor(
    private readonly server: Pick<Server, 'adapters'>,
    private readonly clock: Clock,
  ) {
    this.rows = new Rows(clock, (row) => row.name);
  }

  /** Rows that stay are changed in place, so that a grid keeps its scroll position and focus. */
  async load(): Promise<void> {
    const adapters = await this.server.adapters();
    const names = new Set(adapters.map(({ name }) => name));
    for (const { name } of this.rows.get()) if (!names.has(name)) this.rows.remove(name);
    for (const adapter of adapters) this.rows.upsert(adapter);
  }

  /** After an event of a session. A request that fails is no loss: everything is read again at the next connect. */
  refresh(): void {
    if (this.isRequested) return;
    this.isRequested = true;
    this.clock.after(REFRESH_AFTER_MS, () => {
      this.isRequested = false;
      this.load().catch(() => undefined);
    });
  }
}
