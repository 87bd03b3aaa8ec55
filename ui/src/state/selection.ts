/** What the widgets look at together: one strategy or all, one security. */

import type { Selection, Writable } from './api';
import { Cell } from './readable';
import type { Memory } from './storage';

export function rememberedSelection(memory: Memory): Selection {
  return { strategyId: remembered(memory, 'strategy'), securityId: remembered(memory, 'security') };
}

function remembered(memory: Memory, key: string): Writable<number | null> {
  const said = memory.read(key);
  const cell = new Cell<number | null>(typeof said === 'number' ? said : null);
  cell.subscribe((value) => memory.write(key, value));
  return cell;
}
