/** The securities that the market grid shows: the person's own list, remembered in this browser. */

import type { SecurityVO } from '../../wire/types';

const KEY = 'rialto.watchlist';
/** A list that nobody made yet shows so many. */
const FIRST_SHOWN = 20;

export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

type Listener = (securityIds: readonly number[]) => void;

export class Watchlist {
  private ids: number[] | null;
  private readonly listeners = new Set<Listener>();

  constructor(private readonly shelf: Shelf) {
    this.ids = idsIn(shelf.getItem(KEY));
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
    if (keep) this.shelf.setItem(KEY, JSON.stringify(ids));
    for (const listener of this.listeners) listener(ids);
  }
}

function idsIn(text: string | null): number[] | null {
  if (text === null) return null;
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) && read.every((id) => Number.isInteger(id)) ? read : null;
  } catch {
    return null;
  }
}
