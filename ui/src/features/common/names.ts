/** Reference data may arrive after the rows that name it: whoever shows names reads them again when it does. */

import type { Readable, Reference, Table } from '../../state/api';
import type { StrategyVO } from '../../wire/types';

/** The same reference data, told again after each change; of strategies too where their names are shown. */
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
