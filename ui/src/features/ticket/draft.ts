/**
 * Draft of the ticket while its panel is moved: a window that is made narrow arranges all panels again, and typed values must not
 * be lost.
 */

import type { OrderVO } from '../../wire/types';
import type { TicketForm } from './form';

export interface Draft {
  form: TicketForm;
  changing: OrderVO | null;
  user: string | null;
}

let kept: Draft | null = null;

export function keepDraft(draft: Draft): void {
  kept = draft;
}

/** Gives the draft once, and only to the user who wrote it. */
export function claimDraft(user: string | null): Draft | null {
  const draft = kept;
  kept = null;
  return draft !== null && draft.user === user ? draft : null;
}
