import { aging } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import type { OrderVO } from '../../wire/types';

/** What a venue may have changed since it was last heard of. */
const LIVE_COLUMNS: ReadonlySet<string> = new Set(['status', 'filled', 'remaining', 'average']);

/** An order that nothing is heard of may be filled or cancelled by now: it must not look as if it worked. */
export function openOrderColumns(columns: readonly GridColumn<OrderVO>[], isLive: boolean): GridColumn<OrderVO>[] {
  return columns.map((column) => (LIVE_COLUMNS.has(column.id) ? aging(column, () => !isLive) : column));
}
