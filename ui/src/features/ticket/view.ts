/** View of the ticket, computed from the form, the server's verdict and the texts of the screen. */

import type { Link, Quote } from '../../state/api';
import type { Messages } from '../../state/messages';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { OrderBody, OrderVO, SecurityVO } from '../../wire/types';
import { readingsOf } from '../common/amount';
import * as ticket from './form';
import { summaryOf } from './summary';
import { NO_REMARKS, remarksOf, runWhile, type DryRun, type Remarks } from './verdict';

/** The fields beside which a remark can stand. */
export const SHOWN = ['quantity', 'limit', 'stop', 'tif', 'tifDateTime', 'accountId', 'strategyId', 'exchangeId', 'reference', 'postOnly', 'displayQuantity', 'minQuantity'];

/** An order that is large enough to be confirmed. */
export interface Question {
  /** The whole order as it would be. */
  order: OrderBody;
  notional: number | null;
  answer: DryRun;
  send: () => Promise<void>;
}

export interface TicketState {
  form: ticket.TicketForm;
  /** The live order that is being changed, as it was when its terms were last taken over. */
  changing: OrderVO | null;
  lastRun: DryRun;
  sendRemarks: Remarks;
  isChangedElsewhere: boolean;
  question: Question | null;
  isSending: boolean;
  sentId: string | null;
  quote: Quote | null;
  isStale: boolean;
}

export interface ViewContext {
  security: SecurityVO | null;
  /** The symbol of the order that is being changed. */
  changingSymbol: string;
  /** The time zone in which the days of its exchange end. */
  timeZone: string;
  link: Link;
  mayTrade: boolean;
  texts: Texts;
  formats: Formats;
  messages: Messages;
}

export interface TicketView extends TicketState {
  security: SecurityVO | null;
  unclear: ReturnType<typeof ticket.unclearIn>;
  missing: readonly ticket.NeededField[];
  /** What would be sent, as soon as there is enough of it. */
  body: OrderBody | null;
  run: DryRun;
  remarks: Remarks;
  /** The notional counts in that the price may slip. */
  isAtMost: boolean;
  isUntradeable: boolean;
  /** Why nothing can be sent now. */
  hindrance: string | undefined;
  sendLabel: string;
  /** The new terms of an order that was changed elsewhere. */
  changedTerms: string;
}

export function viewOf(state: TicketState, around: ViewContext): TicketView {
  const { form, changing } = state;
  const { security, formats } = around;
  const unclear = ticket.unclearIn(form, formats);
  const missing = changing === null ? ticket.missingIn(form) : [];
  const isReady = security !== null && unclear.length === 0 && missing.length === 0;
  const run = runWhile(around.link, state.isSending, state.lastRun);
  const isUntradeable = security !== null && !security.tradeable;
  return {
    ...state,
    security,
    unclear,
    missing,
    body: isReady ? bodyFor(state, security, around) : null,
    run,
    remarks: remarksNow(state, run, unclear, around),
    isAtMost: ticket.maySlip(form),
    isUntradeable,
    hindrance: hindranceOf(around, isUntradeable),
    sendLabel: labelOf(state, missing, isUntradeable, around),
    changedTerms: changing !== null && state.isChangedElsewhere ? termsOf(changing, around) : '',
  };
}

/** The order, or what changes of a live one. */
export function bodyFor({ changing, form }: TicketState, security: SecurityVO, { formats, timeZone }: ViewContext): OrderBody {
  return changing ? ticket.changeOf(changing, form, formats, timeZone) : ticket.bodyOf(form, security.id, formats);
}

/** Ambiguous numbers are marked here; all other faults come from the server. */
function remarksNow({ form, sendRemarks }: TicketState, run: DryRun, unclear: TicketView['unclear'], around: ViewContext): Remarks {
  const { texts, formats, messages } = around;
  const fields = Object.fromEntries(unclear.map((field) => [field, texts.ticket.unclear(readingsOf(form[field], formats))]));
  if (unclear.length > 0) return { fields, general: '' };
  return sendRemarks === NO_REMARKS ? remarksOf(run, SHOWN, messages) : sendRemarks;
}

function hindranceOf({ texts, mayTrade, link }: ViewContext, isUntradeable: boolean): string | undefined {
  if (!mayTrade) return texts.refusal.needsTrader;
  if (link === 'offline' || link === 'connecting') return texts.refusal.offline;
  return isUntradeable ? texts.refusal.notTradeable : undefined;
}

/** What the button would do, and what it still needs for that. */
function labelOf(state: TicketState, missing: TicketView['missing'], isUntradeable: boolean, { security, texts, formats }: ViewContext): string {
  if (state.isSending) return texts.ticket.sending;
  if (state.changing !== null) return texts.ticket.applyChange;
  if (security !== null && isUntradeable) return texts.ticket.untradeable(security.symbol);
  const summary = summaryOf(ticket.bodyOf(state.form, security?.id ?? 0, formats), security?.symbol ?? '', texts, formats);
  if (security === null || missing.length === 0) return summary;
  return texts.ticket.missing(summary, missing.map((field) => texts.ticket.needed[field]));
}

function termsOf(order: OrderVO, { changingSymbol, timeZone, texts, formats }: ViewContext): string {
  const terms = ticket.bodyOf(ticket.formOf(order, formats, timeZone), order.securityId, formats);
  return summaryOf(terms, changingSymbol, texts, formats);
}
