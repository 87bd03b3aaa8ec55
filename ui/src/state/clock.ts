/** Time, timers and frames of the browser. Tests bring their own. */

import type { Clock, Stop } from './api';

export const browserClock: Clock = {
  now: () => Date.now(),

  every(ms: number, run: () => void): Stop {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },

  after(ms: number, run: () => void): Stop {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },

  onFrame(run: () => void): Stop {
    const frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  },
};
