/** How a cell leaves the grid as CSV. */

import type { CellValue, GridColumn } from './types';

const STARTS_A_FORMULA = /^[=+\-@\t\r]/;

/**
 * Numbers with all their digits and times as ISO 8601, so that a spreadsheet reads them in any locale. A text that a
 * spreadsheet would run as a formula is quoted: texts come from counterparties too.
 */
export function csvValue<Row>(column: Pick<GridColumn<Row>, 'kind'>, value: CellValue): string {
  if (value === null) return '';
  if (typeof value === 'number') return column.kind === 'time' ? new Date(value).toISOString() : String(value);
  return STARTS_A_FORMULA.test(value) ? `'${value}` : value;
}
