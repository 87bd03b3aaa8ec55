/** Observable values, with the interface of Svelte stores. */

import type { Clock, Readable, Stop, Writable } from './api';

export class Cell<T> implements Writable<T> {
  private readonly runs = new Set<(value: T) => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const run of [...this.runs]) run(value);
  }

  update(change: (value: T) => T): void {
    this.set(change(this.value));
  }

  subscribe(run: (value: T) => void): Stop {
    this.runs.add(run);
    run(this.value);
    return () => this.runs.delete(run);
  }
}

/** `get` gives the value at once; subscribers are notified once a frame. */
export class FrameCell<T> implements Writable<T> {
  private readonly published: Cell<T>;
  private isFrameRequested = false;

  constructor(
    private value: T,
    private readonly clock: Pick<Clock, 'onFrame'>,
  ) {
    this.published = new Cell(value);
  }

  get(): T {
    return this.value;
  }

  set(value: T): void {
    this.value = value;
    if (this.isFrameRequested) return;
    this.isFrameRequested = true;
    this.clock.onFrame(() => {
      this.isFrameRequested = false;
      this.published.set(this.value);
    });
  }

  update(change: (value: T) => T): void {
    this.set(change(this.value));
  }

  subscribe(run: (value: T) => void): Stop {
    return this.published.subscribe(run);
  }
}

type Values<S extends readonly Readable<unknown>[]> = { [Key in keyof S]: S[Key] extends Readable<infer T> ? T : never };

/** A value derived from others; it is computed again only when one of them has changed. */
export function derive<const S extends readonly Readable<unknown>[], T>(
  sources: S,
  make: (...values: Values<S>) => T,
): Readable<T> {
  let made: { from: Values<S>; value: T } | null = null;
  const now = (): T => {
    const from = sources.map((source) => source.get()) as Values<S>;
    if (!made || from.some((value, place) => !Object.is(value, made?.from[place]))) made = { from, value: make(...from) };
    return made.value;
  };
  return {
    get: now,
    subscribe(run) {
      let isSettled = false;
      const stops = sources.map((source) => source.subscribe(() => isSettled && run(now())));
      isSettled = true;
      run(now());
      return () => stops.forEach((stop) => stop());
    },
  };
}
