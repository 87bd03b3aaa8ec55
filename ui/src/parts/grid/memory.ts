/** What a grid remembers in this browser: its columns, their order, widths and sorting, and the filter line. */

import type { ColumnState } from 'ag-grid-community';

export interface GridMemory {
  columns: ColumnState[];
  filter: string;
}

const PREFIX = 'rialto.grid.';

/** What was remembered under this name; nothing where there is none or it can't be read. */
export function recall(name: string, storage: Pick<Storage, 'getItem'>): GridMemory | undefined {
  const text = storage.getItem(PREFIX + name);
  if (text === null) return undefined;
  try {
    return asMemory(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A full or forbidden storage costs the memory, not the grid. */
export function remember(name: string, memory: GridMemory, storage: Pick<Storage, 'setItem'>): void {
  try {
    storage.setItem(PREFIX + name, JSON.stringify(memory));
  } catch {
    return;
  }
}

function asMemory(read: unknown): GridMemory | undefined {
  if (typeof read !== 'object' || read === null) return undefined;
  const { columns, filter } = read as Partial<GridMemory>;
  const isColumns = Array.isArray(columns) && columns.every((column) => typeof column?.colId === 'string');
  return isColumns && typeof filter === 'string' ? { columns, filter } : undefined;
}
