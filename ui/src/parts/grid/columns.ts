/** Column definitions of the grid library, from the screen's columns. */

import type { ColDef, ValueGetterParams } from 'ag-grid-community';
import { PaintedCell, type VisibleCells } from './cells';
import { paintActions, withButton } from './actions';
import type { GridColumn, RowAction } from './types';

export const ACTIONS = 'actions';
const ACTION_WIDTH = 28;

export function columnDefinition<Row>(column: GridColumn<Row>, inSight: VisibleCells<Row>): ColDef<Row> {
  return {
    colId: column.id,
    headerName: column.title,
    valueGetter: (params: ValueGetterParams<Row>) => (params.data === undefined ? null : column.value(params.data)),
    cellRenderer: PaintedCell,
    cellRendererParams: { spec: column, inSight },
    cellClass: isRightAligned(column) ? 'figures' : 'words',
    headerClass: isRightAligned(column) ? 'ag-right-aligned-header' : '',
    ...(column.pinned ? { initialWidth: column.width } : { initialFlex: column.width }),
    minWidth: column.width,
    initialHide: column.hidden ?? false,
    initialPinned: column.pinned ? 'left' : false,
    initialSort: column.sorted ?? null,
    sortingOrder: ['asc', 'desc', null],
  };
}

/** The buttons of a row stay in sight at the right; they are not data, so they can't be sorted, moved or exported. */
export function actionsDefinition<Row>(
  actions: readonly RowAction<Row>[],
  title: string,
  inSight: VisibleCells<Row>,
): ColDef<Row> {
  const column: GridColumn<Row> = {
    id: ACTIONS,
    title,
    value: () => null,
    paint: (cell, row) => paintActions(cell, row, actions),
    width: ACTION_WIDTH * withButton(actions).length + 14,
  };
  const width = column.width;
  return {
    colId: ACTIONS,
    headerName: title,
    cellRenderer: PaintedCell,
    cellRendererParams: { spec: column, inSight },
    headerClass: 'actions-header',
    cellClass: 'actions',
    // A row that changed may allow other actions, and there is no value by which the library could notice.
    valueGetter: (params: ValueGetterParams<Row>) => params.data ?? null,
    pinned: 'right',
    lockPinned: true,
    lockPosition: 'right',
    width,
    minWidth: width,
    maxWidth: width,
    sortable: false,
    resizable: false,
  };
}

function isRightAligned<Row>(column: GridColumn<Row>): boolean {
  return column.kind === 'number';
}
