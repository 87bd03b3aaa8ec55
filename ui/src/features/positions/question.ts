/** A question about a position that lives on while it stands. */

/** What is left of the question: it holds, the position is another one than was asked about, or there is none any more. */
export type Question = 'holds' | 'changed' | 'closed';

/** Closing names a quantity, so that very quantity must be open still; taking some off only needs the same side. */
export function questionNow(asked: number, open: number, all: boolean): Question {
  if (open === 0) return 'closed';
  const isMeant = all ? open === asked : Math.sign(open) === Math.sign(asked);
  return isMeant ? 'holds' : 'changed';
}

/** Half of a position in whole lots, and at least one. */
export function halfOf(quantity: number, lot: number): number {
  const lots = Math.max(1, Math.floor(Math.abs(quantity) / 2 / lot + 1e-9));
  return Number((lots * lot).toPrecision(12));
}
