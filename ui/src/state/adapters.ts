/** Adapters: what each says of its lines and of what its venue offers. */

import type { Server } from '../wire/server';
import type { AdapterVO } from '../wire/types';
import type { Clock } from './api';
import { Rows } from './table';

export class AdapterList {
  readonly rows: Rows<string, AdapterVO>;

  constructor(
    private readonly server: Pick<Server, 'adapters'>,
    clock: Clock,
  ) {
    this.rows = new Rows(clock, (row) => row.name);
  }

  async load(): Promise<void> {
    this.rows.reset(await this.server.adapters());
  }
}
