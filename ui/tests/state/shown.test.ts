/** Orders that the lists show. */

import { expect, test } from 'vitest';
import { isOpen } from '../../src/state/orders';
import { Cell } from '../../src/state/readable';
import { shownOrders } from '../../src/state/shown';
import { Rows, View } from '../../src/state/table';
import type { OrderVO } from '../../src/wire/types';
import { VirtualClock } from '../virtual';
import { order } from './samples';

test('what strategies placed is hidden, and nothing else, until one is selected', () => {
  const all = new Rows<string, OrderVO>(new VirtualClock(), ({ intId }) => intId);
  const strategy = new Cell<number | null>(null);
  const hides = new Cell(false);
  const open = new View(all, new Cell(isOpen));
  all.reset(['UI', 'REST', 'FIX', 'STRATEGY'].map((source, place) => order({ id: place + 1, intId: source, source })));
  const shown = shownOrders({ open }, strategy, hides);
  const ids = () => shown.open.get().map(({ intId }) => intId);
  expect(ids()).toEqual(['UI', 'REST', 'FIX', 'STRATEGY']);
  hides.set(true);
  expect(ids()).toEqual(['UI', 'REST', 'FIX']);
  strategy.set(3);
  expect(ids()).toEqual(['UI', 'REST', 'FIX', 'STRATEGY']);
});
