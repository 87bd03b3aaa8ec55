/** A call that did not succeed, in the server's own words where it had any. */

import type { FieldError, OrderVO, Problem } from './types';

/** The code of a call that never got there. */
export const UNREACHABLE = 'unreachable';

export class WireError extends Error {
  constructor(
    /** The HTTP status; 0 where the server was not reached. */
    readonly status: number,
    /** Stable and kebab-case; `unreachable` where the server was not reached. */
    readonly code: string,
    detail: string,
    readonly errors: readonly FieldError[] = [],
    /** The live order, where an id was used twice. */
    readonly order: OrderVO | null = null,
  ) {
    super(detail);
    this.name = 'WireError';
  }

  static fromProblem(problem: Problem): WireError {
    return new WireError(problem.status, problem.code, problem.detail, problem.errors, problem.order ?? null);
  }

  static unreachable(): WireError {
    return new WireError(0, UNREACHABLE, 'the server cannot be reached');
  }

  /** A form that is wrong in ways which need no server to be seen; it is told as the server would. */
  static ofFields(errors: readonly FieldError[]): WireError {
    const detail = errors.map(({ field, reason }) => `${field} ${reason}`).join('; ');
    return new WireError(422, errors[0]?.code ?? 'malformed-field', detail, errors);
  }
}
