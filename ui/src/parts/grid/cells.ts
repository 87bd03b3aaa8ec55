/**
 * Cells that draw themselves. A grid keeps those in sight by row, so that a price which moves repaints its own cells
 * and nothing else: no comparison of rows, no pass through the grid library.
 */

import type { ICellRendererComp, ICellRendererParams } from 'ag-grid-community';
import type { GridColumn } from './types';

/** The cells of one grid that are in sight, by the id of their row. */
export class VisibleCells<Row> {
  private readonly byRow = new Map<string, Set<PaintedCell<Row>>>();

  add(rowId: string, cell: PaintedCell<Row>): void {
    const cells = this.byRow.get(rowId);
    if (cells) cells.add(cell);
    else this.byRow.set(rowId, new Set([cell]));
  }

  remove(rowId: string, cell: PaintedCell<Row>): void {
    const cells = this.byRow.get(rowId);
    if (cells?.delete(cell) && cells.size === 0) this.byRow.delete(rowId);
  }

  rowIds(): string[] {
    return [...this.byRow.keys()];
  }

  repaint(rowIds: Iterable<string>): void {
    for (const rowId of rowIds) this.byRow.get(rowId)?.forEach((cell) => cell.paint());
  }

  repaintAll(): void {
    this.repaint(this.byRow.keys());
  }
}

/** More than any character of a number is wide, in pixels, and what of a cell is not for text. */
const CHARACTER_PX = 8;
const EDGES_PX = 12;

interface PaintedCellParams<Row> extends ICellRendererParams<Row> {
  spec: GridColumn<Row>;
  inSight: VisibleCells<Row>;
}

export class PaintedCell<Row> implements ICellRendererComp<Row> {
  private readonly element = document.createElement('span');
  private params!: PaintedCellParams<Row>;
  private rowId = '';
  /** What was measured last: characters and pixels. */
  private measured = [-1, -1];

  init(params: PaintedCellParams<Row>): void {
    this.element.className = 'cell';
    this.setParams(params);
    params.inSight.add(this.rowId, this);
  }

  getGui(): HTMLElement {
    return this.element;
  }

  refresh(params: PaintedCellParams<Row>): boolean {
    this.setParams(params);
    return true;
  }

  destroy(): void {
    this.params.inSight.remove(this.rowId, this);
  }

  paint(): void {
    const row = this.params.node.data;
    if (row === undefined) return;
    const { paint, text, value } = this.params.spec;
    if (paint) paint(this.element, row);
    else setText(this.element, text ? text(row) : String(value(row) ?? ''));
    if (this.params.spec.kind === 'number') this.measure();
  }

  /**
   * A cell that clips is a part of its own for the compositor, which sorts all layers again whenever the text in it gets another
   * extent. So a number that fits for sure is not clipped.
   */
  private measure(): void {
    const { column, eGridCell } = this.params;
    const [length, width] = [this.element.textContent?.length ?? 0, column?.getActualWidth() ?? 0];
    if (this.measured[0] === length && this.measured[1] === width) return;
    this.measured = [length, width];
    eGridCell.classList.toggle('fits', length * CHARACTER_PX + EDGES_PX <= width);
  }

  private setParams(params: PaintedCellParams<Row>): void {
    this.params = params;
    this.rowId = params.node.id ?? '';
    this.paint();
  }
}

/** Writes only what differs: an equal text costs no layout. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
