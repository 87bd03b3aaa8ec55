/** The dry run: asks what the server thinks of an order while it is being written. */

import type { Clock, Stop } from '../../state/api';
import { WireError } from '../../wire/error';
import type { OrderBody, VerdictVO } from '../../wire/types';

/** So long after the last key, in milliseconds. */
export const PAUSE_MS = 200;

export type DryRun =
  | { kind: 'none' }
  | { kind: 'checking' }
  | { kind: 'verdict'; verdict: VerdictVO }
  | { kind: 'refused'; error: WireError };

/** Asks after a pause; only the answer to the last question counts. */
export class DryRuns {
  private asked = 0;
  private stop: Stop = () => undefined;

  constructor(
    private readonly clock: Pick<Clock, 'after'>,
    private readonly check: (order: OrderBody) => Promise<VerdictVO>,
    private readonly tell: (run: DryRun) => void,
  ) {}

  /** Nothing to ask forgets the verdict. */
  ask(order: OrderBody | null): void {
    this.stop();
    const mine = ++this.asked;
    if (order === null) return this.tell({ kind: 'none' });
    this.tell({ kind: 'checking' });
    this.stop = this.clock.after(PAUSE_MS, () => void this.run(order, mine));
  }

  close(): void {
    this.stop();
    this.asked += 1;
  }

  private async run(order: OrderBody, mine: number): Promise<void> {
    const answer = await judge(this.check, order);
    if (mine === this.asked) this.tell(answer);
  }
}

export async function judge(check: (order: OrderBody) => Promise<VerdictVO>, order: OrderBody): Promise<DryRun> {
  try {
    return { kind: 'verdict', verdict: await check(order) };
  } catch (error) {
    if (error instanceof WireError) return { kind: 'refused', error };
    throw error;
  }
}

/** What the server says about each field, and what concerns none of those that are shown. */
export interface Remarks {
  fields: Readonly<Record<string, string>>;
  general: string;
}

export const NO_REMARKS: Remarks = { fields: {}, general: '' };

export function remarksOf(run: DryRun, shown: readonly string[]): Remarks {
  if (run.kind === 'refused') return remarksOfError(run.error, shown);
  if (run.kind !== 'verdict' || run.verdict.accepted) return NO_REMARKS;
  const { field, reason } = run.verdict;
  if (field !== null && shown.includes(field)) return { fields: { [field]: reason ?? '' }, general: '' };
  return { fields: {}, general: reason ?? '' };
}

export function remarksOfError(error: WireError, shown: readonly string[]): Remarks {
  const placed = error.errors.filter(({ field }) => shown.includes(field));
  const fields = Object.fromEntries(placed.map(({ field }) => [field, error.reasonFor(field)]));
  return { fields, general: placed.length < Math.max(error.errors.length, 1) ? error.message : '' };
}
