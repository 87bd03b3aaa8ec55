/** CSV export of a cell. */

import type { CellValue, GridColumn } from './types';

/** As many as a double holds for certain. */
const DIGITS_KEPT = 15;
const STARTS_A_FORMULA = /^[=+\-@\t\r]/;

/**
 * Numbers with all their digits and times as ISO 8601, so that a spreadsheet reads them in any locale. A text that a
 * spreadsheet would run as a formula is quoted: texts come from counterparties too.
 */
export function csvValue<Row>(column: Pick<GridColumn<Row>, 'kind' | 'csv'>, value: CellValue): string {
  if (value === null) return '';
  if (typeof value === 'number') return column.kind === 'time' ? new Date(value).toISOString() : figure(column, value);
  return STARTS_A_FORMULA.test(value) ? `'${value}` : value;
}

export function csvTitle<Row>(column: Pick<GridColumn<Row>, 'title' | 'csv'>): string {
  return column.csv?.title ?? column.title;
}

/** A drawing has no value to write. */
export function isExported<Row>(column: Pick<GridColumn<Row>, 'draw'>): boolean {
  return column.draw === undefined;
}

/** A sum or another unit must not bring digits that are only noise of the arithmetic. */
function figure<Row>({ csv }: Pick<GridColumn<Row>, 'csv'>, value: number): string {
  return String(Number((csv?.value(value) ?? value).toPrecision(DIGITS_KEPT)));
}
