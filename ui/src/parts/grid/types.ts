/** Types of a grid: columns, rows and actions on a row. */

import type { IconName } from '../icons';

export type CellValue = string | number | null;

export interface GridColumn<Row> {
  /** Stable; remembered columns and filters go by it. */
  id: string;
  title: string;
  /** For sorting, filtering and export. */
  value: (row: Row) => CellValue;
  /** What is shown; left out means the value as it is. */
  text?: (row: Row) => string;
  /** Draws a cell for which text is not enough. Called again whenever the row may have changed. */
  paint?: (cell: HTMLElement, row: Row) => void;
  /** Draws a cell on the grid's canvas, whenever the grid is redrawn; one column at most. */
  draw?: (context: CanvasRenderingContext2D, row: Row, box: { width: number; height: number }) => void;
  /** How it is exported where that differs: in which unit, and under which title that names it. */
  csv?: { title?: string; value: (value: number) => number };
  /** `number` is right-aligned, `time` exported as ISO 8601. */
  kind?: 'text' | 'number' | 'time';
  /** In pixels; columns grow in proportion where there is room. */
  width: number;
  /** Not shown until the user chooses it. */
  hidden?: boolean;
  /** Stays in sight when the others are scrolled sideways. */
  pinned?: boolean;
  /** Default sort order, until the user changes it. */
  sorted?: 'asc' | 'desc';
}

export interface RowAction<Row> {
  label: string;
  /** Icon of a button in the row; without one only the key runs the action. */
  sign?: IconName;
  /** Runs the action for the focused row, as `KeyboardEvent.key` names it. */
  key?: string;
  danger?: boolean;
  /** Why it can't be done to this row now; nothing where it can. */
  refusal?: (row: Row) => string | undefined;
  run: (row: Row) => void;
}

/** What happened to the rows since the last time. */
export interface RowChange<Row> {
  /** Drop all rows, then apply `upserted`. */
  reset: boolean;
  upserted: readonly Row[];
  removed: readonly Row[];
}

/** Source of rows: gives all of them at once, later the changes, at most once a frame. */
export interface RowSource<Row> {
  watch(listener: (change: RowChange<Row>) => void): () => void;
}

/** Texts of the grid itself. */
export interface GridLabels {
  filter: string;
  filterHint: string;
  columns: string;
  chooseColumns: string;
  moveUp: (column: string) => string;
  moveDown: (column: string) => string;
  reset: string;
  close: string;
  exportCsv: string;
  actions: string;
  rows: (shown: number, all: number) => string;
  unknownColumn: (name: string) => string;
}
