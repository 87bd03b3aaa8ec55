/** Wire error: a failed call, with the server's problem text where there is one. */

import type { FieldError, OrderVO, Problem } from './types';

/** Code of a call that did not reach the server. */
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

  /** Errors of a form that the screen finds itself, in the form of the server's. */
  static ofFields(errors: readonly FieldError[]): WireError {
    const detail = errors.map(({ field, reason }) => `${field} ${reason}`).join('; ');
    return new WireError(422, errors[0]?.code ?? 'malformed-field', detail, errors);
  }
}
