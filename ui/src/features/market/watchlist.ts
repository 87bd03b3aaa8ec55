/** The securities that the market grid shows: the person's own list, remembered for each user. */

import type { UserMemory } from '../../state/api';
import type { SecurityVO } from '../../wire/types';

const KEY = 'watchlist';
/** A list that nobody made yet shows so many. */
const FIRST_SHOWN = 20;

type Listener = (securityIds: readonly number[]) => void;

export class Watchlist {
  private ids: number[] | null;
  private readonly listeners = new Set<Listener>();

  constructor(private readonly memory: Pick<UserMemory, 'read' | 'write' | 'watch'>) {
    this.ids = idsIn(memory.read(KEY));
  }

  /** The list of another window is taken over; call the result when nobody looks any more. */
  follow(): () => void {
    return this.memory.watch(KEY, (stored) => this.set(idsIn(stored) ?? [], false));
  }

  /** Until the person makes a list: the first securities that there are. */
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

  /** Gives the place where it stood, for one who did not mean it. */
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
