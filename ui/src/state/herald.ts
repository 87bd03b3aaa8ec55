/** Turns what happened into notices, as far as the settings want them. */

import type { Texts } from '../texts';
import type { Formats } from '../texts/formats';
import { UNREACHABLE, WireError } from '../wire/error';
import type { LogEvent } from '../wire/types';
import type { Notifications, Readable, Reference, Settings } from './api';
import type { OrderNews } from './orders';

export interface HeraldTools {
  notifications: Notifications;
  settings: Readable<Settings>;
  texts: Readable<Texts>;
  formats: Readable<Formats>;
}

type Names = Pick<Reference, 'symbol' | 'priceDigits'>;

export class Herald {
  private readonly told = new Set<string>();

  constructor(private readonly tools: HeraldTools) {}

  orderNews(news: OrderNews, names: Names): void {
    const { fills, strategyFills, rejects } = this.tools.settings.get().notify;
    const areWanted = news.order.source === 'STRATEGY' ? strategyFills : fills;
    if (news.filled > 0 && areWanted) this.fill(news, names);
    if (news.isRejected && rejects) this.reject(news, names);
  }

  serverError(line: LogEvent): void {
    if (!this.tools.settings.get().notify.errors) return;
    this.tools.notifications.raise('error', this.words().serverError, line.message);
  }

  reconnected(): void {
    this.tools.notifications.raise('info', this.words().reconnected, this.words().reconnectedDetail);
  }

  /** This browser remembered a strategy that the server does not have. */
  unknownStrategy(): void {
    this.tools.notifications.raise('info', this.words().unknownStrategy, this.words().unknownStrategyDetail);
  }

  /** What cannot be read is told once, however often it comes; that the server is away shows elsewhere. */
  trouble(error: unknown): void {
    if (error instanceof WireError && error.code === UNREACHABLE) return;
    const text = error instanceof Error ? error.message : String(error);
    if (this.told.has(text)) return;
    this.told.add(text);
    this.tools.notifications.raise('error', this.words().trouble, text);
  }

  private fill({ order, filled }: OrderNews, names: Names): void {
    const formats = this.tools.formats.get();
    const price = formats.price(order.avgPrice, names.priceDigits(order.securityId));
    const say = order.side === 'BUY' ? this.words().bought : this.words().sold;
    const progress = [formats.quantity(order.filledQuantity), formats.quantity(order.quantity)] as const;
    const title = say(formats.quantity(filled), names.symbol(order.securityId), price);
    this.tools.notifications.raise('fill', title, this.words().ofOrder(order.intId, ...progress));
  }

  private reject({ order }: OrderNews, names: Names): void {
    const title = this.words().rejected(names.symbol(order.securityId));
    this.tools.notifications.raise('reject', title, order.reason ?? order.intId);
  }

  private words(): Texts['notices'] {
    return this.tools.texts.get().notices;
  }
}
