import { expect, test } from 'vitest';
import { csvTitle, csvValue, isExported } from '../../src/parts/grid/csv';
import { recall, remember, type GridMemory } from '../../src/parts/grid/memory';

class GridStorage {
  readonly kept = new Map<string, unknown>();
  read = (key: string): unknown => this.kept.get(key) ?? null;
  write = (key: string, value: unknown): void => void this.kept.set(key, value);
}

test('a grid finds its columns and filter again', () => {
  const storage = new GridStorage();
  const memory: GridMemory = { columns: [{ colId: 'symbol', width: 90, sort: 'asc' }], filter: 'side:buy' };
  remember('orders', memory, storage);
  expect(recall('orders', storage)).toEqual(memory);
  expect(recall('positions', storage)).toBeUndefined();
});

test.each(['', null, 7, { columns: [1], filter: '' }, { columns: [] }])('what cannot be read is forgotten: %j', (stored) => {
  const storage = new GridStorage();
  storage.write('grid.orders', stored);
  expect(recall('orders', storage)).toBeUndefined();
});

test('a cell is exported exactly, and never as a formula', () => {
  expect(csvValue({ kind: 'number' }, 1234567.00001)).toBe('1234567.00001');
  expect(csvValue({ kind: 'time' }, 1794721285138)).toBe('2026-11-15T05:41:25.138Z');
  expect(csvValue({}, '=cmd()')).toBe("'=cmd()");
  expect(csvValue({ kind: 'number' }, -5)).toBe('-5');
  expect(csvValue({}, null)).toBe('');
});

test('a sum is exported without the noise of its arithmetic', () => {
  expect(csvValue({ kind: 'number' }, 0.07 + 0.14)).toBe('0.21');
});

test('what is shown in another unit is exported in the one that its title names', () => {
  const percent = { title: 'Chg %', csv: { value: (part: number) => part * 100 } };
  const age = { title: 'Age', csv: { title: 'Age, s', value: (ms: number) => ms / 1_000 } };
  expect([csvTitle(percent), csvValue(percent, 0.002357), csvValue(percent, -0.07), csvValue(percent, null)]).toEqual([
    'Chg %',
    '0.2357',
    '-7',
    '',
  ]);
  expect([csvTitle(age), csvValue(age, 1_250)]).toEqual(['Age, s', '1.25']);
  expect([csvTitle({ title: 'Bid' }), isExported({})]).toEqual(['Bid', true]);
});

test('a drawing is not exported', () => {
  expect(isExported({ draw: () => undefined })).toBe(false);
});
