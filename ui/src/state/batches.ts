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
  private isRequested = false;
  private paintedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly frames: FrameSource) {}

  /** Once, with the next painting; the first after a quiet while comes at once. */
  add(run: () => void): Stop {
    const callback = () => run();
    this.waiting.add(callback);
    this.requestFrame();
    return () => this.waiting.delete(callback);
  }

  private requestFrame(): void {
    if (this.isRequested) return;
    this.isRequested = true;
    const rest = this.paintedAt + PAINT_EVERY_MS - this.frames.now();
    const next = () => this.frames.frame(() => this.paint());
    if (rest > 0) this.frames.after(rest, next);
    else next();
  }

  private paint(): void {
    this.isRequested = false;
    this.paintedAt = this.frames.now();
    const callbacks = this.waiting;
    this.waiting = new Set();
    for (const run of callbacks) run();
  }
}
