/** Unknown outcome of a call that got no answer: repeating the call may execute it twice. */

import { WireError } from '../../wire/error';

const OUTCOME_UNKNOWN = 'outcome-unknown';

/** Whether it is unknown if the server executed the call. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof WireError)) return false;
  const { status, code } = error;
  return status === 0 || code === OUTCOME_UNKNOWN || (status >= 500 && code === 'unexplained');
}
