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

  /** The reasons that concern one field, joined; `''` where there are none. */
  reasonFor(field: string): string {
    return this.errors.filter((error) => error.field === field).map((error) => error.reason).join('; ');
  }
}
