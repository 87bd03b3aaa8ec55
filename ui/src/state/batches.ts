/**
 * What changes many times a second is painted together, a few times a second. Nearly all of the price of a frame is the frame itself
 * (layers, layout, the hand-over to the compositor), whether one price moved in it or fifty: so nobody gets a frame of his own.
 */

import type { Stop } from './api';

/** Between two paintings, in milliseconds: sooner than anybody reads a number, and a tenth of the frames of a screen. */
export const PAINT_EVERY_MS = 100;

export interface FrameSource {
  now(): number;
  after(ms: number, run: () => void): void;
  frame(run: () => void): void;
}

export class Batches {
  private waiting = new Set<() => void>();
  private isAsked = false;
  private paintedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly ground: FrameSource) {}

  /** Once, with the next painting; the first after a quiet while comes at once. */
  add(run: () => void): Stop {
    const wish = () => run();
    this.waiting.add(wish);
    this.ask();
    return () => this.waiting.delete(wish);
  }

  private ask(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    const rest = this.paintedAt + PAINT_EVERY_MS - this.ground.now();
    const next = () => this.ground.frame(() => this.paint());
    if (rest > 0) this.ground.after(rest, next);
    else next();
  }

  private paint(): void {
    this.isAsked = false;
    this.paintedAt = this.ground.now();
    const wishes = this.waiting;
    this.waiting = new Set();
    for (const run of wishes) run();
  }
}
