/**
 * Paint batches: changes that come many times a second are painted together, about ten times a second. Nearly all of the cost of a
 * frame is the frame itself (layers, layout, compositing), whether one price moved in it or fifty: so no change gets its own frame.
 */

import type { Stop } from './api';

/** Time between two paints, in milliseconds: faster than a user reads a number, and about a sixth of the frames of a display. */
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

  /** Runs once, with the next paint; the first paint after a pause comes at once. */
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
    const failures: unknown[] = [];
    for (const run of callbacks) {
      try {
        run();
      } catch (error) {
        failures.push(error);
      }
    }
    // Whoever waits for a paint waits for ever if it is left out: one that fails must not take the others with it.
    if (failures.length > 0) throw failures[0];
  }
}
