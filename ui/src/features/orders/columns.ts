import { aging } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import type { OrderVO } from '../../wire/types';

/** Columns that a venue may have changed since its last report. */
const LIVE_COLUMNS: ReadonlySet<string> = new Set(['status', 'filled', 'remaining', 'average']);

/** An order without current reports may be filled or cancelled by now: it must not look live. */
export function openOrderColumns(columns: readonly GridColumn<OrderVO>[], isLive: boolean): GridColumn<OrderVO>[] {
  return columns.map((column) => (LIVE_COLUMNS.has(column.id) ? aging(column, () => !isLive) : column));
}
