/** Model of the order ticket, without its markup: editing, dry runs, sending, and following a live order. The component shows its `view`. */

import type { Readable, Stop, Stores, TicketFill } from '../../state/api';
import type { Messages } from '../../state/messages';
import { isOpen } from '../../state/orders';
import { Cell } from '../../state/readable';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import { WireError } from '../../wire/error';
import type { OrderBody, OrderVO } from '../../wire/types';
import { isReserved } from '../common/external';
import { isOutcomeUnknown } from '../common/outcome';
import { estimateOf, mustConfirm, notionalOf } from './confirm';
import { Dispatch, EarlierOrder } from './dispatch';
import type { Draft } from './draft';
import { followOrder } from './follow';
import * as ticket from './form';
import { followPrice } from '../common/price';
import { DryRuns, isKnownRefused, judge, NO_REMARKS, remarksOf, type Check, type DryRun, type Remarks } from './verdict';
import { bodyFor, SHOWN, viewOf, type ViewContext, type TicketState, type TicketView } from './view';

type TicketStores =
  | 'clock'
  | 'trading'
  | 'reference'
  | 'selection'
  | 'intents'
  | 'market'
  | 'portfolio'
  | 'settings'
  | 'orders'
  | 'risk'
  | 'connection'
  | 'notifications';

export interface TicketTools {
  stores: Pick<Stores, TicketStores>;
  texts: Readable<Texts>;
  formats: Readable<Formats>;
  messages: Readable<Messages>;
  /** What was being written when the ticket was last closed. */
  draft: Pick<Draft, 'form' | 'changing'> | null;
  /** The quantity is to be written next. */
  onWrite(): void;
  /** Something is wrong: the cursor belongs to the first field that is marked. */
  onFault(): void;
  /** Ids of orders, for tests. */
  newId?: () => string;
}

export class TicketModel {
  readonly view: Cell<TicketView>;
  private state: TicketState;
  private readonly runs: DryRuns;
  private readonly dispatch: Dispatch;
  private readonly stops: Stop[] = [];
  private followed: OrderVO | null = null;
  private stopPrice: Stop = () => undefined;
  private stopOrder: Stop = () => undefined;
  private requested = '';
  private isSettling = false;

  constructor(private readonly tools: TicketTools) {
    const { stores, draft } = tools;
    const form = draft?.form ?? { ...ticket.BLANK, securityId: stores.selection.securityId.get() };
    this.state = {
      form,
      changing: draft?.changing ?? null,
      lastRun: { kind: 'none' },
      sendRemarks: NO_REMARKS,
      isChangedElsewhere: false,
      question: null,
      isSending: false,
      sentId: null,
      quote: null,
      isStale: false,
    };
    this.view = new Cell(viewOf(this.state, this.context()));
    this.runs = new DryRuns(stores.clock, this.check, (run) => this.onRun(run));
    this.dispatch = new Dispatch((order) => stores.trading.place(order), tools.newId);
    this.followSecurity(form.securityId);
    this.followOrder(this.state.changing);
    this.listen();
    this.requestVerdict();
  }

  close(): void {
    [...this.stops, this.stopPrice, this.stopOrder].forEach((stop) => stop());
    this.runs.close();
  }

  draft(): Pick<Draft, 'form' | 'changing'> {
    return { form: this.state.form, changing: this.state.changing };
  }

  edit(form: ticket.TicketForm): void {
    this.set({ form, sendRemarks: NO_REMARKS });
  }

  /** The price as the limit, of whatever is being written. */
  applyPrice(limit: number): void {
    const { form, changing } = this.state;
    const fill = { securityId: form.securityId ?? 0, limit };
    const formats = this.tools.formats.get();
    this.edit(changing ? ticket.withPrices(form, fill, formats) : ticket.withFill(form, fill, formats));
  }

  /** Gives up a change. */
  leave(): void {
    this.set({ changing: null, isChangedElsewhere: false, form: this.blank(), sendRemarks: NO_REMARKS });
  }

  submit(): void {
    const { security, isSending, hindrance, unclear, missing, changing, form, quote } = this.view.get();
    if (security === null || isSending || hindrance !== undefined) return;
    if (unclear.length > 0) return this.tools.onFault();
    if (missing.length > 0) return this.nameMissing(missing);
    const context = this.context();
    const order = bodyFor(this.state, security, context);
    const whole = changing === null ? order : ticket.termsOf(changing, form, context.formats, context.timeZone);
    const estimate = estimateOf(whole, security, quote?.tick ?? null, this.tools.stores.portfolio.totals.get().currency);
    const send = () => (changing === null ? this.place(order) : this.sendChange({ ...order, intId: changing.intId }));
    void this.attempt(() => this.sendOrConfirm(order, whole, estimate, send));
  }

  confirm(): void {
    const send = this.state.question?.send;
    this.set({ question: null });
    if (send) void this.attempt(send);
  }

  decline(): void {
    this.set({ question: null });
  }

  private listen(): void {
    const { texts, formats, messages, stores } = this.tools;
    const { risk, connection, selection, intents, trading, reference } = stores;
    let { reconnects } = connection.get();
    const refresh = () => this.refresh();
    const unless = (run: () => void) => () => this.state.changing === null && run();
    this.stops.push(
      ...[texts, formats, messages, trading.mayTrade, reference.securities, reference.exchanges].map((source) => source.subscribe(refresh)),
      risk.states.watch(() => this.runs.rerun()),
      risk.limits.watch(() => this.runs.rerun()),
      connection.subscribe((now) => {
        const isAnew = now.reconnects !== reconnects;
        reconnects = now.reconnects;
        this.refresh(isAnew);
        if (now.link === 'live' && this.state.sendRemarks.isOutcomeUnknown) void this.queryOutcome();
      }),
      selection.securityId.subscribe((id) => unless(() => this.edit(ticket.withSecurity(this.state.form, id)))()),
      selection.strategyId.subscribe((id) => unless(() => this.edit({ ...this.state.form, strategyId: this.chosenStrategy(id) }))()),
      intents.on('ticket', (fill) => this.fill(fill)),
      intents.on('modify', (order) => this.change(order)),
    );
  }

  private set(change: Partial<TicketState>): void {
    const before = this.state;
    this.state = { ...before, ...change };
    if (this.state.form.securityId !== before.form.securityId) this.followSecurity(this.state.form.securityId);
    if (this.state.changing?.intId !== before.changing?.intId) this.followOrder(this.state.changing);
    this.refresh();
    // A change that is being sent reports its own outcome.
    if (before.isSending && !this.state.isSending) this.compareFollowed();
  }

  private refresh(isAnew = false): void {
    this.view.set(viewOf(this.state, this.context()));
    this.requestVerdict(isAnew);
  }

  /** Requests a dry run only when the body to send has changed, or the live order that it changes. */
  private requestVerdict(isAnew = false): void {
    const { body, mayTrade } = { body: this.view.get().body, mayTrade: this.tools.stores.trading.mayTrade.get() };
    const wanted = mayTrade ? body : null;
    const key = JSON.stringify([wanted, this.state.changing]);
    if (key === this.requested && !isAnew) return;
    this.requested = key;
    this.runs.request(wanted);
  }

  private readonly check: Check = (order, signal) => {
    const { trading } = this.tools.stores;
    return this.state.changing === null ? trading.check(order, signal) : trading.checkChange(order, signal);
  };

  /** The reason that kept the order from being sent may be gone. */
  private onRun(lastRun: DryRun): void {
    const isOver = this.state.sendRemarks.isNotSent === true && !isKnownRefused(lastRun);
    this.set({ lastRun, ...(isOver && { sendRemarks: NO_REMARKS }) });
  }

  private context(): ViewContext {
    const { stores, texts, formats, messages } = this.tools;
    const { form, changing } = this.state;
    const security = form.securityId === null ? undefined : stores.reference.securities.row(form.securityId);
    return {
      security: security ?? null,
      changingSymbol: stores.reference.symbol(changing?.securityId ?? null),
      timeZone: this.zoneOf(changing),
      link: stores.connection.get().link,
      mayTrade: stores.trading.mayTrade.get(),
      texts: texts.get(),
      formats: formats.get(),
      messages: messages.get(),
    };
  }

  private zoneOf(order: OrderVO | null): string {
    return (order && this.tools.stores.reference.exchanges.row(order.exchangeId)?.timeZone) ?? 'UTC';
  }

  private followSecurity(securityId: number | null): void {
    this.stopPrice();
    this.stopPrice = () => undefined;
    this.state = { ...this.state, quote: null, isStale: false };
    if (securityId === null) return;
    const { market, clock } = this.tools.stores;
    this.stopPrice = followPrice(market, clock, securityId, (quote, isStale) => this.set({ quote, isStale }));
  }

  private followOrder(order: OrderVO | null): void {
    this.stopOrder();
    this.stopOrder = () => undefined;
    this.followed = null;
    if (order === null) return;
    this.stopOrder = followOrder(this.tools.stores.orders.all, order.intId, (now) => {
      this.followed = now;
      if (!this.state.isSending) this.compareFollowed();
    });
  }

  /** The order may end or be changed elsewhere while its change is written here. */
  private compareFollowed(): void {
    const { changing } = this.state;
    const now = this.followed;
    if (now === null || changing === null || changing.intId !== now.intId) return;
    if (!isOpen(now)) this.abandonEnded(now);
    else if (!ticket.hasSameTerms(now, changing)) this.rebase(changing, now);
  }

  private abandonEnded(order: OrderVO): void {
    this.set({ question: null });
    this.leave();
    this.tools.stores.notifications.raise('warning', this.tools.texts.get().ticket.endedElsewhere(order.intId));
  }

  /** A confirmation of the old terms is withdrawn. */
  private rebase(before: OrderVO, now: OrderVO): void {
    const formats = this.tools.formats.get();
    const [then, newest] = [before, now].map((order) => ticket.formOf(order, formats, this.zoneOf(order))) as [ticket.TicketForm, ticket.TicketForm];
    const form = ticket.rebased(this.state.form, then, newest);
    this.set({ question: null, isChangedElsewhere: true, changing: now, form, sendRemarks: NO_REMARKS });
  }

  /** An order belongs to the selected strategy. The server's own is the default and is not named; for external orders nobody orders. */
  private chosenStrategy(id: number | null): number | null {
    const name = id === null ? 'SERVER' : this.tools.stores.reference.strategyName(id);
    return name === 'SERVER' || isReserved({ name }) ? null : id;
  }

  private blank(): ticket.TicketForm {
    const { selection } = this.tools.stores;
    return { ...ticket.BLANK, strategyId: this.chosenStrategy(selection.strategyId.get()), securityId: selection.securityId.get() };
  }

  private fill(fill: TicketFill): void {
    const { form, changing } = this.state;
    if (changing !== null && ticket.isPriceFor(changing, fill)) this.edit(ticket.withPrices(form, fill, this.tools.formats.get()));
    else this.startNew(fill);
    this.tools.onWrite();
  }

  /** A new order keeps no values of an order that was being changed. */
  private startNew(fill: TicketFill): void {
    const { form, changing } = this.state;
    const next = ticket.withFill(changing === null ? form : this.blank(), fill, this.tools.formats.get());
    this.set({ form: next, sendRemarks: NO_REMARKS, changing: null, isChangedElsewhere: false });
    this.tools.stores.selection.securityId.set(fill.securityId);
  }

  private change(order: OrderVO): void {
    const form = ticket.formOf(order, this.tools.formats.get(), this.zoneOf(order));
    this.set({ changing: order, isChangedElsewhere: false, form, sendRemarks: NO_REMARKS });
    this.tools.onWrite();
  }

  /** Marks all missing fields at once. */
  private nameMissing(missing: readonly ticket.NeededField[]): void {
    const { isNeeded } = this.tools.texts.get().ticket;
    this.showFaults({ fields: Object.fromEntries(missing.map((field) => [field, isNeeded])), general: '' });
  }

  private showFaults(sendRemarks: Remarks): void {
    this.set({ sendRemarks });
    this.tools.onFault();
  }

  /** A large order is confirmed, and so is a change that makes an order large. */
  private async sendOrConfirm(sent: OrderBody, order: OrderBody, estimate: number | null, send: () => Promise<void>): Promise<void> {
    const answer = await this.verdictOn(sent);
    if (isKnownRefused(answer)) return this.refuse(answer);
    const notional = notionalOf(answer, estimate);
    if (mustConfirm(answer, notional, this.tools.stores.settings.get().confirmFrom)) this.set({ question: { order, notional, answer, send } });
    else await send();
  }

  /** A refusal may be out of date: the dry run is repeated before the order is kept from being sent. */
  private async verdictOn(order: OrderBody): Promise<DryRun> {
    const { lastRun } = this.state;
    return lastRun.kind === 'verdict' && lastRun.verdict.accepted ? lastRun : judge(this.check, order);
  }

  private refuse(lastRun: DryRun): void {
    this.set({ lastRun });
    this.showFaults({ ...remarksOf(lastRun, SHOWN, this.tools.messages.get()), isNotSent: true });
  }

  private async place(order: OrderBody): Promise<void> {
    const sentId = await this.dispatch.send(order);
    this.sent(sentId);
    this.tools.onWrite();
  }

  /** Type, strategy and account stay for the next order; quantity and prices do not. */
  private sent(sentId: string): void {
    this.set({ sentId, form: { ...this.state.form, quantity: '', limit: '', stop: '' }, sendRemarks: NO_REMARKS });
  }

  private async sendChange(change: OrderBody & { intId: string }): Promise<void> {
    await this.tools.stores.trading.modify(change);
    this.set({ sentId: change.intId });
    this.leave();
  }

  /** The server is back: it is queried whether the order arrived, by the id that only this ticket used. */
  private async queryOutcome(): Promise<void> {
    const intId = this.dispatch.unsettled;
    if (intId === null || this.isSettling) return;
    this.isSettling = true;
    const arrived = await this.tools.stores.trading.exists(intId).catch(() => null);
    this.isSettling = false;
    if (arrived === null || !this.state.sendRemarks.isOutcomeUnknown) return;
    const words = this.tools.texts.get().ticket;
    if (!arrived) return this.set({ sendRemarks: { fields: {}, general: words.notArrived } });
    this.dispatch.settle();
    this.sent(intId);
    this.tools.stores.notifications.raise('info', words.arrived(intId));
  }

  /** One at a time: a second Enter must not send a second order. */
  private async attempt(step: () => Promise<void>): Promise<void> {
    this.set({ isSending: true });
    try {
      await step();
    } catch (error) {
      this.showFaults(this.remarksOfFailure(error));
    } finally {
      this.set({ isSending: false });
    }
  }

  private remarksOfFailure(error: unknown): Remarks {
    const words = this.tools.texts.get().ticket;
    if (error instanceof EarlierOrder) {
      this.set({ sentId: error.intId });
      return { fields: {}, general: words.earlier(error.intId) };
    }
    if (!(error instanceof WireError)) throw error;
    if (isOutcomeUnknown(error)) return { fields: {}, general: words.fateUnknown, isOutcomeUnknown: true };
    return this.tools.messages.get().faults(error, SHOWN);
  }
}
