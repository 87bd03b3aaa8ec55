/** Observable table: reads see a change at once, watchers once a frame. */

import { beforeEach, describe, expect, it } from 'vitest';
import type { Change, Readable } from '../../src/state/api';
import { Cell, derive } from '../../src/state/readable';
import { Rows, View } from '../../src/state/table';
import { VirtualClock } from '../virtual';

interface Row {
  id: number;
  word: string;
}

let clock: VirtualClock;
let rows: Rows<number, Row>;
let reported: Change<Row>[];

beforeEach(() => {
  [clock, reported] = [new VirtualClock(), []];
  rows = new Rows(clock, (row) => row.id);
});

describe('rows', () => {
  it('are read at once and reported once a frame, each with its newest value', () => {
    rows.watch((change) => reported.push(change));
    rows.upsert({ id: 1, word: 'old' });
    rows.upsert({ id: 1, word: 'new' });
    rows.upsert({ id: 2, word: 'other' });
    expect([rows.row(1)?.word, rows.size(), reported.length]).toEqual(['new', 2, 1]);
    clock.frame();
    expect(reported[1]).toEqual({ reset: false, upserted: [{ id: 1, word: 'new' }, { id: 2, word: 'other' }], removed: [] });
  });

  it('that are added and removed within a frame are never reported', () => {
    rows.watch((change) => reported.push(change));
    rows.upsert({ id: 1, word: 'short' });
    rows.remove(1);
    clock.frame();
    expect(reported[1]).toEqual({ reset: false, upserted: [], removed: [] });
  });

  it('that are removed are reported to watchers that have received them', () => {
    rows.upsert({ id: 1, word: 'here' });
    clock.frame();
    rows.watch((change) => reported.push(change));
    rows.upsert({ id: 1, word: 'changed' });
    rows.remove(1);
    clock.frame();
    expect(reported[1]?.removed.map((row) => row.id)).toEqual([1]);
  });

  it('that are replaced are reported as a reset, with what came after it', () => {
    rows.upsert({ id: 1, word: 'gone' });
    rows.watch((change) => reported.push(change));
    rows.reset([{ id: 2, word: 'new' }]);
    rows.upsert({ id: 3, word: 'newer' });
    clock.frame();
    expect([reported[1]?.reset, reported[1]?.upserted.map((row) => row.id)]).toEqual([true, [2, 3]]);
  });

  it('wait in a hidden tab, one change for each', () => {
    rows.watch((change) => reported.push(change));
    for (let count = 0; count < 10_000; count += 1) rows.upsert({ id: count % 3, word: String(count) });
    clock.frame();
    expect(reported[1]?.upserted.map((row) => row.word)).toEqual(['9999', '9997', '9998']);
  });
});

describe('a view', () => {
  let wanted: Cell<string>;
  let test: Readable<(row: Row) => boolean>;

  beforeEach(() => {
    wanted = new Cell('a');
    test = derive([wanted], (letter) => (row: Row) => row.word.startsWith(letter));
  });

  it('has the rows that pass, and a reset when the test changes', () => {
    rows.reset([{ id: 1, word: 'apple' }, { id: 2, word: 'bread' }]);
    const view = new View(rows, test);
    view.watch((change) => reported.push(change));
    wanted.set('b');
    const ids = reported.map((change) => [change.reset, change.upserted.map((row) => row.id)]);
    expect([ids, view.size(), view.row(1)]).toEqual([[[true, [1]], [true, [2]]], 1, undefined]);
  });

  it('reports a row that no longer passes as removed, once, and only if it was shown', () => {
    rows.reset([{ id: 1, word: 'apple' }, { id: 2, word: 'bread' }]);
    clock.frame();
    new View(rows, test).watch((change) => reported.push(change));
    rows.upsert({ id: 1, word: 'cherry' });
    rows.upsert({ id: 2, word: 'butter' });
    clock.frame();
    expect(reported[1]?.removed.map((row) => row.id)).toEqual([1]);
    rows.upsert({ id: 1, word: 'coconut' });
    clock.frame();
    expect(reported[2]?.removed).toEqual([]);
  });

  it('gives the same list until something changes', () => {
    rows.reset([{ id: 1, word: 'apple' }]);
    const view = new View(rows, test);
    const before = view.get();
    expect(view.get()).toBe(before);
    rows.upsert({ id: 3, word: 'almond' });
    expect(view.get()).not.toBe(before);
  });
});
