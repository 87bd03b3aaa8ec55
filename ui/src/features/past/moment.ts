/** Points of the slider: seconds of a span that ends a moment ago. */

export const SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000, month: 2_678_400_000 } as const;
export type Span = keyof typeof SPANS;

/** Steps of the slider, so that every span is as fine as a hand can move it. */
export const STEPS = 1_000;
/** The end of a span lies so long ago: the clock of the server may be a little behind. */
const BEHIND_MS = 2_000;

/** The instant of a step, in epoch milliseconds. */
export function instantOf(step: number, span: Span, now: number): number {
  const within = Math.min(Math.max(step, 0), STEPS);
  return Math.max(0, Math.round(now - BEHIND_MS - ((STEPS - within) / STEPS) * SPANS[span]));
}
