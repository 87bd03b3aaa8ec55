/** Clock of the browser: time, timers and frames. Tests use a virtual one. */

import type { Clock, Stop } from './api';
import { Batches } from './batches';

const batches = new Batches({
  now: () => performance.now(),
  after: (ms, run) => void setTimeout(run, ms),
  // Before the frame, not in it: code that draws on a canvas requests a frame itself, and then gets this one. In a hidden tab
  // there are no frames, and nothing is painted.
  frame: (run) => void (document.hidden ? requestAnimationFrame(run) : setTimeout(run, 0)),
});

/**
 * Timers of the same period run together and with the next paint, because each one that paints alone costs a frame. In a hidden tab
 * nothing is painted, and they run by themselves.
 */
const periods = new Map<number, Set<() => void>>();

function together(ms: number): Set<() => void> {
  const known = periods.get(ms);
  if (known) return known;
  const runs = new Set<() => void>();
  const runAll = () => [...runs].forEach((run) => run());
  setInterval(() => (document.hidden ? runAll() : batches.add(runAll)), ms);
  periods.set(ms, runs);
  return runs;
}

export const browserClock: Clock = {
  now: () => Date.now(),

  every(ms: number, run: () => void): Stop {
    const runs = together(ms);
    const turn = () => run();
    runs.add(turn);
    return () => runs.delete(turn);
  },

  after(ms: number, run: () => void): Stop {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },

  onFrame(run: () => void): Stop {
    return batches.add(run);
  },
};
