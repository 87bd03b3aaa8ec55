/** What became of a call that got no answer: nobody knows, and whoever repeats it unasked may do it twice. */

import { WireError } from '../../wire/error';

const OUTCOME_UNKNOWN = 'outcome-unknown';

/** Nobody knows whether the server took it. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof WireError)) return false;
  const { status, code } = error;
  return status === 0 || code === OUTCOME_UNKNOWN || (status >= 500 && code === 'unexplained');
}
