/** Selection that all widgets share: one strategy or all, one security. Each user has one in this browser. */

import type { Selection, UserMemory, Writable } from './api';
import { Cell } from './readable';

export function rememberedSelection(memory: Pick<UserMemory, 'here' | 'isReady'>): Selection {
  return { strategyId: remembered(memory, 'strategy'), securityId: remembered(memory, 'security') };
}

function remembered(memory: Pick<UserMemory, 'here' | 'isReady'>, key: string): Writable<number | null> {
  const here = memory.here();
  const cell = new Cell<number | null>(null);
  // Another user has another selection; without a user there is none.
  memory.isReady.subscribe(() => {
    const stored = here.read(key);
    cell.set(typeof stored === 'number' ? stored : null);
  });
  cell.subscribe((value) => here.write(key, value));
  return cell;
}
