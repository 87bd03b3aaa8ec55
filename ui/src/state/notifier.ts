/** Notifier: raises notices for fills, rejects, errors and venues, as far as the settings want them. */

import type { Texts } from '../texts';
import type { Formats } from '../texts/formats';
import { UNREACHABLE, WireError } from '../wire/error';
import type { BreakVO, LogEvent, OrderVO } from '../wire/types';
import type { Fill, Notifications, Readable, Reference, Settings } from './api';
import { OrderFills } from './fills';
import type { Messages } from './messages';
import type { OrderNews } from './orders';

export interface NotifierTools {
  notifications: Notifications;
  settings: Readable<Settings>;
  texts: Readable<Texts>;
  formats: Readable<Formats>;
  messages: Readable<Messages>;
  /** The one that is selected. */
  strategy: Readable<number | null>;
}

type Names = Pick<Reference, 'symbol' | 'priceDigits' | 'strategyName'>;

export class Notifier {
  private readonly reported = new Set<string>();
  private readonly fills = new OrderFills();
  /** Orders of strategies that were rejected, by strategy, since the screen was opened. */
  private readonly rejects = new Map<number, number>();

  constructor(private readonly tools: NotifierTools) {}

  orderNews(news: OrderNews, names: Names): void {
    const { order } = news;
    const { fills, strategyFills, rejects } = this.tools.settings.get().notify;
    const areWanted = order.source === 'STRATEGY' ? strategyFills : fills;
    if (news.filled > 0 && areWanted) this.onFill(order, names);
    if (news.isRejected && rejects && this.concerns(order)) this.reject(order, names);
  }

  /** The notice of an order may be raised before its fill is booked: this adds the price. */
  booked(fill: Fill, names: Names): void {
    const order = this.fills.book(fill);
    if (order !== undefined) this.notifyFill(order, names);
  }

  serverError(line: LogEvent): void {
    if (!this.tools.settings.get().notify.errors) return;
    this.tools.notifications.raise('error', this.words().serverError, line.message);
  }

  reconnected(): void {
    this.tools.notifications.raise('info', this.words().reconnected, this.words().reconnectedDetail);
  }

  /** One notice for each outage of a venue; the same notice is changed when the venue is back. */
  venue(name: string, isAway: boolean): void {
    const { venueAway, venueBack, venueAwayDetail } = this.words();
    const [kind, title, detail] = isAway ? (['warning', venueAway, venueAwayDetail] as const) : (['success', venueBack, ''] as const);
    this.tools.notifications.raise(kind, title(name), detail, `venue ${name}`);
  }

  /** One notice for each break, from when it is found until it is settled. */
  breakChanged({ id, kind, state, adapter, account, changedBy }: BreakVO): void {
    const { breaks } = this.tools.texts.get();
    const isOpen = state === 'OPEN';
    const title = isOpen ? breaks.opened(id, breaks.kind[kind]) : breaks.settled(id, breaks.state[state]);
    const detail = isOpen ? [adapter, account].filter(Boolean).join(', ') : (changedBy ?? '');
    this.tools.notifications.raise(isOpen ? 'warning' : 'success', title, detail, `break ${id}`);
  }

  /** This browser remembered a strategy that the server does not have. */
  unknownStrategy(): void {
    this.tools.notifications.raise('info', this.words().unknownStrategy, this.words().unknownStrategyDetail);
  }

  /** The same error raises one notice, however often it comes; an unreachable server is shown by the connection state. */
  trouble(error: unknown): void {
    if (error instanceof WireError && error.code === UNREACHABLE) return;
    const text = this.tools.messages.get().error(error);
    if (this.reported.has(text)) return;
    this.reported.add(text);
    this.tools.notifications.raise('error', this.words().trouble, text);
  }

  /** After a logout: the next user must not get notices of the last one. */
  forget(): void {
    this.reported.clear();
    this.fills.clear();
    this.rejects.clear();
  }

  private onFill(order: OrderVO, names: Names): void {
    this.fills.setNotified(order);
    this.notifyFill(order, names);
  }

  /** One notice for each order: how much is filled by now, at which price, and the last fill where there were several. */
  private notifyFill(order: OrderVO, names: Names): void {
    const formats = this.tools.formats.get();
    const words = this.words();
    const digits = names.priceDigits(order.securityId);
    const { price, isAverage, last } = this.fills.summary(order);
    const titleOf = order.side === 'BUY' ? words.bought : words.sold;
    const at = isAverage ? words.onAverage(formats.price(price, digits)) : formats.price(price, digits);
    const title = titleOf(formats.quantity(order.filledQuantity), names.symbol(order.securityId), at);
    const progress = words.ofOrder(order.intId, formats.quantity(order.filledQuantity), formats.quantity(order.quantity));
    const newest = last === null ? '' : `, ${words.lastFill(formats.quantity(last.quantity), formats.price(last.price, digits))}`;
    this.tools.notifications.raise('fill', title, `${progress}${newest}`, `fill ${order.intId}`);
  }

  /** Orders of strategies raise notices while all strategies or that one are selected. */
  private concerns(order: OrderVO): boolean {
    const selected = this.tools.strategy.get();
    return order.source !== 'STRATEGY' || selected === null || selected === order.strategyId;
  }

  private reject(order: OrderVO, names: Names): void {
    const { rejected } = this.words();
    const what = `${this.tools.texts.get().side[order.side]} ${this.tools.formats.get().quantity(order.quantity)} ${names.symbol(order.securityId)}`;
    if (order.source === 'STRATEGY') return this.rejectOfStrategy(order, what, names);
    this.tools.notifications.raise('reject', rejected(what), this.reasonOf(order));
  }

  /** A strategy may be rejected many times a minute: one notice counts the rejects. */
  private rejectOfStrategy(order: OrderVO, what: string, names: Names): void {
    const { strategyId } = order;
    const count = (this.rejects.get(strategyId) ?? 0) + 1;
    this.rejects.set(strategyId, count);
    const title = this.words().strategyRejected(names.strategyName(strategyId), this.tools.formats.get().quantity(count));
    this.tools.notifications.raise('reject', title, `${what}: ${this.reasonOf(order)}`, `rejects ${strategyId}`);
  }

  private reasonOf({ reason, intId }: OrderVO): string {
    return reason === null ? intId : this.tools.messages.get().text(null, reason);
  }

  private words(): Texts['notices'] {
    return this.tools.texts.get().notices;
  }
}
