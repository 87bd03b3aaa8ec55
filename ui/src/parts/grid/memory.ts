/** Grid preferences: columns, their order, widths and sorting, and the filter line. The shell provides the storage. */

import type { ColumnState } from 'ag-grid-community';
import { getContext, setContext } from 'svelte';

export interface GridMemory {
  columns: ColumnState[];
  filter: string;
}

export interface GridStorage {
  read(key: string): unknown;
  write(key: string, value: unknown): void;
}

const PREFIX = 'grid.';
const GRID_STORAGE = Symbol('gridStorage');

export function provideGridMemory(storage: GridStorage): void {
  setContext(GRID_STORAGE, storage);
}

export function useGridMemory(): GridStorage {
  return getContext<GridStorage>(GRID_STORAGE);
}

/** The stored preferences of this grid; `undefined` where there are none or they can't be read. */
export function recall(name: string, storage: Pick<GridStorage, 'read'>): GridMemory | undefined {
  return asMemory(storage.read(PREFIX + name));
}

export function remember(name: string, memory: GridMemory, storage: Pick<GridStorage, 'write'>): void {
  storage.write(PREFIX + name, memory);
}

function asMemory(read: unknown): GridMemory | undefined {
  if (typeof read !== 'object' || read === null) return undefined;
  const { columns, filter } = read as Partial<GridMemory>;
  const isColumns = Array.isArray(columns) && columns.every((column) => typeof column?.colId === 'string');
  return isColumns && typeof filter === 'string' ? { columns, filter } : undefined;
}
