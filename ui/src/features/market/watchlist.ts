/** Watch list of the market grid, kept for each user. */

import type { UserMemory } from '../../state/api';
import type { SecurityVO } from '../../wire/types';

const KEY = 'watchlist';
/** Number of securities in the default list. */
const FIRST_SHOWN = 20;

type Listener = (securityIds: readonly number[]) => void;

export class Watchlist {
  private ids: number[] | null;
  private readonly listeners = new Set<Listener>();

  constructor(private readonly memory: Pick<UserMemory, 'read' | 'write' | 'watch'>) {
    this.ids = idsIn(memory.read(KEY));
  }

  /** Follows changes made in another window, until the returned function is called. */
  follow(): () => void {
    return this.memory.watch(KEY, (stored) => this.set(idsIn(stored) ?? [], false));
  }

  /** Fills the default list with the first securities, until the user makes a list. */
  offer(securities: readonly SecurityVO[]): void {
    if (this.ids === null && securities.length > 0) {
      this.set(securities.slice(0, FIRST_SHOWN).map((security) => security.id), false);
    }
  }

  list(): readonly number[] {
    return this.ids ?? [];
  }

  /** New ones come on top, where they are seen. */
  add(securityId: number): void {
    if (!this.list().includes(securityId)) this.set([securityId, ...this.list()], true);
  }

  /** Gives the position of the removed row, for an undo. */
  remove(securityId: number): number {
    const place = this.list().indexOf(securityId);
    this.set(this.list().filter((id) => id !== securityId), true);
    return place;
  }

  restore(securityId: number, place: number): void {
    const others = this.list().filter((id) => id !== securityId);
    this.set([...others.slice(0, place), securityId, ...others.slice(place)], true);
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    listener(this.list());
    return () => this.listeners.delete(listener);
  }

  private set(ids: number[], keep: boolean): void {
    this.ids = ids;
    if (keep) this.memory.write(KEY, ids);
    for (const listener of this.listeners) listener(ids);
  }
}

function idsIn(stored: unknown): number[] | null {
  return Array.isArray(stored) && stored.every((id) => Number.isInteger(id)) ? stored : null;
}
