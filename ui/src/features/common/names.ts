/** Names from reference data, which may arrive after the rows that use it: columns with names are rebuilt when it does. */

import type { Readable, Reference, Table } from '../../state/api';
import type { StrategyVO } from '../../wire/types';

/** The same reference data, published again after each change; after changes of strategies too where their names are shown. */
export function renamed(reference: Reference, strategies?: Table<number, StrategyVO>): Readable<Reference> {
  return {
    get: () => reference,
    subscribe: (run) => {
      const { securities, exchanges, accounts } = reference;
      const tables = [securities, exchanges, accounts, ...(strategies ? [strategies] : [])];
      const stops = tables.map((table) => table.subscribe(() => run(reference)));
      return () => stops.forEach((stop) => stop());
    },
  };
}
