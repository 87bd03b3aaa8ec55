/**
 * Drawn column: one canvas over the rows for all its cells. A canvas in every cell would be a layer in every row, and the
 * browser composes all layers again for every price that moves.
 */

import type { GridApi } from 'ag-grid-community';
import { ROW_HEIGHT } from './library';
import type { GridColumn } from './types';

/** The library's element that holds the rows and scrolls with them. */
const ROWS = '.ag-grid-scrolling-container';

export class DrawnColumn<Row> {
  private readonly canvas = document.createElement('canvas');
  private frame = 0;

  constructor(
    private readonly api: GridApi<Row>,
    private readonly root: HTMLElement,
    private readonly column: () => GridColumn<Row> | undefined,
  ) {
    this.canvas.className = 'drawn';
    this.canvas.ariaHidden = 'true';
    root.classList.add('has-drawn');
  }

  /** Draws once before the next paint, however often it is requested. */
  redraw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.canvas.remove();
  }

  private paint(): void {
    this.frame = 0;
    const context = this.canvas.getContext('2d');
    const column = this.column();
    const place = column && this.api.getColumn(column.id);
    const first = Math.max(0, this.api.getFirstDisplayedRowIndex());
    const rows = this.rowsFrom(first);
    const isShown = place?.isVisible() === true && rows.length > 0;
    this.canvas.hidden = !isShown;
    if (context === null || column?.draw === undefined || !isShown) return;
    const width = place.getActualWidth();
    this.lay({ left: this.pinnedWidth() + (place.getLeft() ?? 0), top: first * ROW_HEIGHT, width, height: rows.length * ROW_HEIGHT });
    for (const [index, row] of rows.entries()) {
      context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, index * ROW_HEIGHT * devicePixelRatio);
      column.draw(context, row, { width, height: ROW_HEIGHT });
    }
  }

  private rowsFrom(first: number): Row[] {
    const rows: Row[] = [];
    for (let index = first; index <= this.api.getLastDisplayedRowIndex(); index += 1) {
      const row = this.api.getDisplayedRowAtIndex(index)?.data;
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  private pinnedWidth(): number {
    return this.api.getDisplayedLeftColumns().reduce((sum, column) => sum + column.getActualWidth(), 0);
  }

  /** A canvas that is given another size, or place, is another layer: only where they really changed. */
  private lay({ left, top, width, height }: { left: number; top: number; width: number; height: number }): void {
    const { canvas } = this;
    const [wide, high] = [width, height].map((side) => Math.round(side * devicePixelRatio)) as [number, number];
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== high) canvas.height = high;
    canvas.getContext('2d')?.reset();
    const place = { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` };
    if (canvas.style.cssText === '' || Object.entries(place).some(([side, px]) => canvas.style.getPropertyValue(side) !== px)) Object.assign(canvas.style, place);
    if (!canvas.isConnected) this.root.querySelector(ROWS)?.append(canvas);
  }
}
