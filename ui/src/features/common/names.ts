/** Reference data may arrive after the rows that name it: whoever shows names reads them again when it does. */

import type { Readable, Reference } from '../../state/api';

/** The same reference data, told again after each change. */
export function renamed(reference: Reference): Readable<Reference> {
  return {
    get: () => reference,
    subscribe: (run) => {
      const tables = [reference.securities, reference.exchanges, reference.accounts];
      const stops = tables.map((table) => table.subscribe(() => run(reference)));
      return () => stops.forEach((stop) => stop());
    },
  };
}
