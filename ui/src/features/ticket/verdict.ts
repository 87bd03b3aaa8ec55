/** Dry run: queries the server's verdict on an order while it is being written. */

import type { Clock, Link, Stop } from '../../state/api';
import type { Messages } from '../../state/messages';
import { WireError } from '../../wire/error';
import type { OrderBody, VerdictVO } from '../../wire/types';

/** Delay after the last key, in milliseconds. */
export const PAUSE_MS = 200;
/** The notional of an order without a limit follows the market, so its dry run is repeated at this interval, in milliseconds. */
export const REFRESH_MS = 2_000;

export type DryRun =
  | { kind: 'none' }
  | { kind: 'checking' }
  /** The order is on its way. */
  | { kind: 'sending' }
  /** There is no connection, or a silent one: the last verdict may no longer hold. */
  | { kind: 'withdrawn'; isSilent: boolean }
  | { kind: 'verdict'; verdict: VerdictVO }
  | { kind: 'refused'; error: WireError };

export type Check = (order: OrderBody, signal?: AbortSignal) => Promise<VerdictVO>;

/** Dry runs after a pause, and again when limits or states change; only the last one counts, earlier ones are aborted. */
export class DryRuns {
  private order: OrderBody | null = null;
  private requested = 0;
  private answered = 0;
  private controller = new AbortController();
  private stops: Stop[] = [];

  constructor(
    private readonly clock: Pick<Clock, 'after' | 'every'>,
    private readonly check: Check,
    private readonly onRun: (run: DryRun) => void,
  ) {}

  /** `null` drops the verdict. */
  request(order: OrderBody | null): void {
    this.close();
    this.order = order;
    if (order === null) return this.onRun({ kind: 'none' });
    this.onRun({ kind: 'checking' });
    this.stops.push(this.clock.after(PAUSE_MS, () => this.rerun()));
    if (order.limit === undefined) this.stops.push(this.clock.every(REFRESH_MS, () => this.refresh()));
  }

  /** The last verdict stays visible until the new one has arrived. */
  rerun(): void {
    if (this.order !== null) void this.run(this.order);
  }

  close(): void {
    this.stops.forEach((stop) => stop());
    this.stops = [];
    this.order = null;
    this.requested += 1;
    this.controller.abort();
  }

  /** A slow server gets no second request before it has answered. */
  private refresh(): void {
    if (this.answered === this.requested) this.rerun();
  }

  private async run(order: OrderBody): Promise<void> {
    const mine = ++this.requested;
    this.controller.abort();
    this.controller = new AbortController();
    const answer = await judge(this.check, order, this.controller.signal);
    if (mine !== this.requested) return;
    this.answered = mine;
    this.onRun(answer);
  }
}

export async function judge(check: Check, order: OrderBody, signal?: AbortSignal): Promise<DryRun> {
  try {
    return { kind: 'verdict', verdict: await check(order, signal) };
  } catch (error) {
    if (error instanceof WireError) return { kind: 'refused', error };
    throw error;
  }
}

/** The server could not read the order; any other failure says nothing about the order. */
export function isUnreadable(run: DryRun): boolean {
  return run.kind === 'refused' && (run.error.status === 400 || run.error.status === 422);
}

/** The server has read the order, and would reject it. */
export function isKnownRefused(run: DryRun): boolean {
  return run.kind === 'verdict' && !run.verdict.accepted;
}

/** A verdict holds while the connection is live, and until the order is sent. */
export function runWhile(link: Link, isSending: boolean, run: DryRun): DryRun {
  if (isSending) return { kind: 'sending' };
  return link === 'live' || run.kind === 'none' ? run : { kind: 'withdrawn', isSilent: link === 'lagging' };
}

/** A verdict is meaningless where the order may be live already. */
export function runInSight(run: DryRun, remarks: Remarks): DryRun | null {
  return remarks.isOutcomeUnknown ? null : run;
}

/** Notional and fee of the order; an invalid quantity or price has no estimate. */
export function estimatesOf(run: DryRun | null, order: OrderBody | null): Pick<VerdictVO, 'notional' | 'fee'> {
  const isKnown = run?.kind === 'verdict' && (run.verdict.accepted || isWorthSomething(run.verdict, order));
  return isKnown ? run.verdict : { notional: null, fee: null };
}

function isWorthSomething({ field }: VerdictVO, order: OrderBody | null): boolean {
  const isNone = (amount: OrderBody['limit']): boolean => typeof amount === 'number' && amount <= 0;
  return field !== 'quantity' && !isNone(order?.limit) && !isNone(order?.stop);
}

/** Remarks of the server by field, and those that belong to no visible field. */
export interface Remarks {
  fields: Readonly<Record<string, string>>;
  general: string;
  /** It is unknown whether the server accepted the order. */
  isOutcomeUnknown?: true;
  /** It was not even sent, because the server would refuse it. */
  isNotSent?: true;
}

export const NO_REMARKS: Remarks = { fields: {}, general: '' };

type ServerMessages = Pick<Messages, 'text' | 'faults'>;

export function remarksOf(run: DryRun, shown: readonly string[], messages: ServerMessages): Remarks {
  if (run.kind === 'refused') return messages.faults(run.error, shown);
  if (run.kind !== 'verdict' || run.verdict.accepted) return NO_REMARKS;
  const { field, reason, code } = run.verdict;
  const text = messages.text(code, reason ?? '');
  if (field !== null && shown.includes(field)) return { fields: { [field]: text }, general: '' };
  return { fields: {}, general: text };
}
