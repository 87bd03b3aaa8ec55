/** Grid controller: feeds rows and commands to the grid library, and hides the library from all other code. */

import {
  createGrid,
  type CellKeyDownEvent,
  type GridApi,
  type GridOptions,
  type IRowNode,
  type ProcessCellForExportParams,
  type ProcessHeaderForExportParams,
} from 'ag-grid-community';
import { runByKey, withButton } from './actions';
import { VisibleCells } from './cells';
import { ACTIONS, actionsDefinition, columnDefinition } from './columns';
import { csvTitle, csvValue, isExported } from './csv';
import { DrawnColumn } from './drawn';
import { parseFilter, type Filter } from './filter';
import { HEADER_HEIGHT, icons, ROW_HEIGHT, theme } from './library';
import { recall, remember, type GridStorage } from './memory';
import { styleContainer } from './styles';
import type { CellValue, GridColumn, GridLabels, RowAction, RowChange } from './types';

export interface GridPlan<Row> {
  /** Name under which the columns of the grid are stored. */
  name: string;
  /** For screen readers. */
  title: string;
  rowId: (row: Row) => string;
  columns: readonly GridColumn<Row>[];
  actions: readonly RowAction<Row>[];
  labels: GridLabels;
  /** Enter or a double click on a row. */
  onactivate?: ((row: Row) => void) | undefined;
  /** A row was clicked, or focused by the keyboard. */
  onfocusrow?: ((row: Row) => void) | undefined;
  /** How many rows fit the filter, and how many there are. */
  oncount: (shown: number, all: number) => void;
  /** The rows that can be seen changed. */
  onsight?: ((rowIds: string[]) => void) | undefined;
}

export interface ColumnChoice {
  id: string;
  title: string;
  shown: boolean;
}

const LEADING_KEYS: ReadonlySet<string> = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End']);

export class GridController<Row> {
  private readonly api: GridApi<Row>;
  private readonly root = document.createElement('div');
  private readonly inSight = new VisibleCells<Row>();
  private readonly drawn: DrawnColumn<Row> | null;
  private width = 0;
  private filter: Filter;
  private filterLine: string;

  constructor(
    host: HTMLElement,
    private plan: GridPlan<Row>,
    private readonly storage: GridStorage,
  ) {
    const memory = recall(plan.name, storage);
    this.filterLine = memory?.filter ?? '';
    this.filter = this.filterOf(this.filterLine);
    this.root.className = 'grid-root';
    this.api = createGrid(this.root, this.options());
    this.listenToChoices();
    const drawn = () => this.plan.columns.find((column) => column.draw !== undefined);
    this.drawn = drawn() === undefined ? null : new DrawnColumn(this.api, this.root, drawn);
    this.api.setGridAriaProperty('label', plan.title);
    if (memory) this.api.applyColumnState({ state: memory.columns, applyOrder: true });
    // The library measures when it comes into the document: not before its styles are there.
    queueMicrotask(() => host.append(this.root));
  }

  get line(): string {
    return this.filterLine;
  }

  destroy(): void {
    this.drawn?.close();
    this.api.destroy();
    this.root.remove();
  }

  apply(change: RowChange<Row>): void {
    if (change.reset) {
      this.api.setGridOption('rowData', [...change.upserted]);
    } else {
      const known = (row: Row): boolean => this.api.getRowNode(this.plan.rowId(row)) !== undefined;
      this.api.applyTransaction({
        add: change.upserted.filter((row) => !known(row)),
        update: change.upserted.filter(known),
        remove: change.removed.filter(known),
      });
    }
    this.count();
  }

  /** Sets other columns, actions or texts: the user's arrangement stays. */
  replan(plan: GridPlan<Row>): void {
    this.plan = plan;
    this.filter = this.filterOf(this.filterLine);
    this.api.setGridOption('columnDefs', this.definitions());
    this.api.setGridAriaProperty('label', plan.title);
    this.widen();
    this.inSight.repaintAll();
  }

  /** A pinned column has a width of its own, which must not be less than what it needs by now. */
  private widen(): void {
    const narrow = this.plan.columns.filter(({ id, width }) => (this.api.getColumn(id)?.getActualWidth() ?? width) < width);
    if (narrow.length > 0) this.api.setColumnWidths(narrow.map(({ id: key, width: newWidth }) => ({ key, newWidth })));
  }

  /** Paints these rows again where they are in sight; for values that change many times a second. */
  repaint(rowIds: Iterable<string>): void {
    this.inSight.repaint(rowIds);
  }

  focusFirst(): void {
    const first = this.root.querySelector<HTMLElement>('.ag-row[row-index="0"] .ag-cell');
    (first ?? this.root.querySelector<HTMLElement>('.ag-header-cell'))?.focus();
  }

  /** Draws the drawn column again. */
  redraw(): void {
    this.drawn?.redraw();
  }

  /** Sorts and filters again, for values that changed without a change of rows. */
  rearrange(): void {
    const isSorted = this.api.getColumnState().some((column) => column.sort);
    if (isSorted || this.filterLine !== '') this.api.refreshClientSideRowModel('filter');
  }

  /** Gives the columns that the line names and the grid does not have. */
  setFilter(line: string): readonly string[] {
    this.filterLine = line;
    this.filter = this.filterOf(line);
    this.api.onFilterChanged();
    this.keep();
    return this.filter.unknown;
  }

  /** The rows that fit the filter, in the order in which they stand. */
  fitting(): Row[] {
    const rows: Row[] = [];
    this.api.forEachNodeAfterFilterAndSort(({ data }) => data !== undefined && rows.push(data));
    return rows;
  }

  exportCsv(): void {
    this.api.exportDataAsCsv({
      fileName: `${this.plan.name}.csv`,
      columnKeys: this.exported(),
      processHeaderCallback: (params) => this.csvHeader(params),
      processCellCallback: (params) => this.csvCell(params),
    });
  }

  choices(): ColumnChoice[] {
    const titles = new Map(this.plan.columns.map((column) => [column.id, column.title]));
    return this.api.getColumnState().flatMap(({ colId, hide }) => {
      const title = titles.get(colId);
      return title === undefined ? [] : [{ id: colId, title, shown: !hide }];
    });
  }

  show(columnId: string, shown: boolean): void {
    this.api.setColumnsVisible([columnId], shown);
  }

  /** Moves a column by one place: -1 to the left, 1 to the right. */
  move(columnId: string, by: -1 | 1): void {
    const order = this.api.getColumnState().map((column) => column.colId);
    const to = order.indexOf(columnId) + by;
    if (to >= 0 && to < order.length) this.api.moveColumns([columnId], to);
  }

  resetColumns(): void {
    this.api.resetColumnState();
  }

  private options(): GridOptions<Row> {
    return {
      theme,
      icons,
      themeStyleContainer: styleContainer(),
      rowHeight: ROW_HEIGHT,
      headerHeight: HEADER_HEIGHT,
      columnDefs: this.definitions(),
      defaultColDef: { resizable: true, sortable: true, suppressHeaderMenuButton: true },
      maintainColumnOrder: true,
      rowData: [],
      getRowId: ({ data }) => this.plan.rowId(data),
      animateRows: false,
      suppressColumnMoveAnimation: true,
      suppressRowTransform: true,
      // A row must not be shown without its cells, not even for one frame.
      suppressAnimationFrame: true,
      suppressDragLeaveHidesColumns: true,
      suppressNoRowsOverlay: true,
      enableCellTextSelection: true,
      ensureDomOrder: true,
      rowBuffer: 2,
      isExternalFilterPresent: () => this.filterLine !== '',
      doesExternalFilterPass: (node) => this.fits(node),
      onCellKeyDown: (event) => this.onKey(event as CellKeyDownEvent<Row>),
      onRowDoubleClicked: ({ data }) => data && this.plan.onactivate?.(data),
      onColumnMoved: () => this.keep(),
      onColumnVisible: () => this.keep(),
      onColumnResized: ({ finished }) => {
        this.fit();
        if (finished) this.keep();
      },
      onDisplayedColumnsChanged: () => this.fit(),
      onGridSizeChanged: ({ clientWidth }) => {
        this.width = clientWidth;
        this.fit();
      },
      onSortChanged: () => this.keep(),
      onModelUpdated: () => this.look(),
      onViewportChanged: () => this.look(),
    };
  }

  private definitions() {
    const { columns, actions, labels } = this.plan;
    const data = columns.map((column) => columnDefinition(column, this.inSight));
    return withButton(actions).length === 0 ? data : [...data, actionsDefinition(actions, labels.actions, this.inSight)];
  }

  private onKey({ event, data }: CellKeyDownEvent<Row>): void {
    if (!(event instanceof KeyboardEvent) || data === undefined) return;
    // A key that is held would go on with the next row.
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (runByKey(event.key, data, this.plan.actions)) event.preventDefault();
    else if (event.key === 'Enter') this.plan.onactivate?.(data);
  }

  /**
   * A row is chosen by a press on it or by keys that lead to it. A cursor that the library moves, because a row was added or
   * removed, is no choice of the user, and neither is a press on one of the row's own buttons.
   */
  private listenToChoices(): void {
    this.root.addEventListener('pointerdown', ({ target, button }) => {
      if (button !== 0 || !(target instanceof Element) || target.closest('.row-action')) return;
      const id = target.closest('[row-id]')?.getAttribute('row-id');
      if (id != null) this.choose(this.api.getRowNode(id)?.data);
    });
    this.root.addEventListener('keydown', ({ key, target }) => {
      if (!LEADING_KEYS.has(key) || !(target instanceof Element) || !target.closest('.ag-cell')) return;
      const rowIndex = this.api.getFocusedCell()?.rowIndex;
      if (rowIndex !== undefined) this.choose(this.api.getDisplayedRowAtIndex(rowIndex)?.data);
    });
  }

  private choose(row: Row | undefined): void {
    if (row !== undefined) this.plan.onfocusrow?.(row);
  }

  private filterOf(line: string): Filter {
    return parseFilter(line, this.plan.columns.map((column) => column.id));
  }

  private fits(node: IRowNode<Row>): boolean {
    const row = node.data;
    if (row === undefined) return false;
    return this.filter.fits((id) => {
      const column = this.columnOf(id);
      if (column === undefined) return undefined;
      const value = column.value(row);
      return { value, text: column.text ? column.text(row) : String(value ?? '') };
    });
  }

  /** What is shown, in the order in which it stands. */
  private exported(): string[] {
    const isWritten = (id: string): boolean => {
      const column = this.columnOf(id);
      return column !== undefined && isExported(column);
    };
    return this.choices().flatMap(({ id, shown }) => (shown && isWritten(id) ? [id] : []));
  }

  private columnOf(id: string): GridColumn<Row> | undefined {
    return this.plan.columns.find((candidate) => candidate.id === id);
  }

  private csvHeader(params: ProcessHeaderForExportParams<Row>): string {
    const column = this.columnOf(params.column.getColId());
    return column === undefined ? '' : csvTitle(column);
  }

  private csvCell(params: ProcessCellForExportParams<Row>): string {
    const column = this.columnOf(params.column.getColId());
    return column === undefined ? '' : csvValue(column, params.value as CellValue);
  }

  private count(): void {
    let all = 0;
    this.api.forEachNode(() => (all += 1));
    this.plan.oncount(this.api.getDisplayedRowCount(), all);
  }

  private look(): void {
    this.count();
    this.redraw();
    if (this.plan.onsight === undefined) return;
    const first = this.api.getFirstDisplayedRowIndex();
    const last = this.api.getLastDisplayedRowIndex();
    const seen: string[] = [];
    for (let index = Math.max(first, 0); index <= last; index += 1) {
      const id = this.api.getDisplayedRowAtIndex(index)?.id;
      if (id !== undefined) seen.push(id);
    }
    this.plan.onsight(seen);
  }

  /** After a change of widths. Pinned cells have to stick only where the grid scrolls sideways. */
  private fit(): void {
    this.inSight.repaintAll();
    const needed = this.api.getAllDisplayedColumns().reduce((sum, column) => sum + column.getActualWidth(), 0);
    this.root.classList.toggle('sideways', needed > this.width);
    this.redraw();
  }

  private keep(): void {
    const columns = this.api.getColumnState().filter((column) => column.colId !== ACTIONS);
    remember(this.plan.name, { columns, filter: this.filterLine }, this.storage);
  }
}
