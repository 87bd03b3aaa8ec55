/** Factories of the usual kinds of columns. */

import { setText } from './cells';
import type { GridColumn } from './types';

type Options<Row> = Partial<Omit<GridColumn<Row>, 'id' | 'title' | 'width' | 'value'>>;

export function words<Row>(
  id: string,
  title: string,
  width: number,
  value: (row: Row) => string,
  options: Options<Row> = {},
): GridColumn<Row> {
  return { id, title, width, value, ...options };
}

export function figures<Row>(
  id: string,
  title: string,
  width: number,
  value: (row: Row) => number | null,
  show: (value: number | null, row: Row) => string,
  options: Options<Row> = {},
): GridColumn<Row> {
  return { id, title, width, kind: 'number', value, text: (row) => show(value(row), row), ...options };
}

export function instants<Row>(
  id: string,
  title: string,
  width: number,
  value: (row: Row) => number | null,
  show: (value: number | null) => string,
  options: Options<Row> = {},
): GridColumn<Row> {
  return { id, title, width, kind: 'time', value, text: (row) => show(value(row)), ...options };
}

/** Profit and loss: a sign and a colour. */
export function gains<Row>(
  id: string,
  title: string,
  width: number,
  value: (row: Row) => number | null,
  show: (value: number | null, row: Row) => string,
  options: Options<Row> = {},
): GridColumn<Row> {
  const paint = (cell: HTMLElement, row: Row): void => paintGain(cell, value(row), show(value(row), row));
  return { ...figures(id, title, width, value, show), paint, ...options };
}

/** A cell that fades while what it shows may be old. */
export function aging<Row>(column: GridColumn<Row>, isStale: (row: Row) => boolean): GridColumn<Row> {
  const { paint, text, value } = column;
  return {
    ...column,
    paint: (cell, row) => {
      if (paint) paint(cell, row);
      else setText(cell, text ? text(row) : String(value(row) ?? ''));
      cell.classList.toggle('stale', isStale(row));
    },
  };
}

const ANY_DIGIT = /[1-9]/;

/** What is shown as zero has no colour, however little it may be above or below. */
function paintGain(cell: HTMLElement, value: number | null, text: string): void {
  const move = value === null || !ANY_DIGIT.test(text) ? 0 : value;
  setText(cell, text);
  cell.classList.toggle('rise', move > 0);
  cell.classList.toggle('fall', move < 0);
}
