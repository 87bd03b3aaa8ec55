/** State of the dialog about a position, which may change while the dialog is open. */

/** The dialog still holds, the position has changed since it was opened, or there is no position any more. */
export type Question = 'holds' | 'changed' | 'closed';

/** Closing needs the same open quantity as shown; reducing only needs the same side. */
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
