/** Form of the order ticket as the user fills it in, and the order that it means. */

import type { TicketFill } from '../../state/api';
import type { Formats } from '../../texts/formats';
import type { OrderBody, OrderKind, OrderVO, Side, TimeInForce } from '../../wire/types';
import { amountOf, isUnclear, typed } from '../common/amount';

/** The order types with the prices that they need, in the order of the ticket. */
const PRICES: Record<OrderKind, readonly ('limit' | 'stop')[]> = {
  MarketOrder: [],
  LimitOrder: ['limit'],
  StopOrder: ['stop'],
  StopLimitOrder: ['limit', 'stop'],
};
export const KINDS = Object.keys(PRICES) as OrderKind[];
export const TIFS: readonly TimeInForce[] = ['DAY', 'GTC', 'GTD', 'IOC', 'FOK', 'ATO', 'ATC'];

/** Numbers stay as they are typed; an id that is not chosen is left to the server. */
export interface TicketForm {
  securityId: number | null;
  side: Side;
  kind: OrderKind;
  quantity: string;
  limit: string;
  stop: string;
  tif: TimeInForce;
  /** A day, for GTD: good until its close. */
  until: string;
  accountId: number | null;
  strategyId: number | null;
  exchangeId: number | null;
  reference: string;
  postOnly: boolean;
  displayQuantity: string;
  minQuantity: string;
  reduceOnly: boolean;
}

export const BLANK: TicketForm = {
  securityId: null,
  side: 'BUY',
  kind: 'LimitOrder',
  quantity: '',
  limit: '',
  stop: '',
  tif: 'DAY',
  until: '',
  accountId: null,
  strategyId: null,
  exchangeId: null,
  reference: '',
  postOnly: false,
  displayQuantity: '',
  minQuantity: '',
  reduceOnly: false,
};

export function hasLimit(kind: OrderKind): boolean {
  return PRICES[kind].includes('limit');
}

export function hasStop(kind: OrderKind): boolean {
  return PRICES[kind].includes('stop');
}

const RESTING: readonly TimeInForce[] = ['DAY', 'GTC', 'GTD'];

type Terms = Pick<TicketForm, 'kind' | 'tif'>;

/** Which properties an order of this type and time in force can have; the dry run says what its venue does not offer. */
export function propertiesFor({ kind, tif }: Terms): { postOnly: boolean; displayQuantity: boolean; minQuantity: boolean } {
  const rests = RESTING.includes(tif);
  return {
    postOnly: rests && kind === 'LimitOrder',
    displayQuantity: rests && hasLimit(kind),
    minQuantity: tif === 'IOC' && !hasStop(kind),
  };
}

export type NeededField = 'quantity' | 'limit' | 'stop' | 'tifDateTime';

/** Required fields of this kind of order that are still empty. */
export function missingIn(form: TicketForm): NeededField[] {
  const needed: [NeededField, string, boolean][] = [
    ['quantity', form.quantity, true],
    ['stop', form.stop, hasStop(form.kind)],
    ['limit', form.limit, hasLimit(form.kind)],
    ['tifDateTime', form.until, form.tif === 'GTD'],
  ];
  return needed.filter(([, text, isNeeded]) => isNeeded && text.trim() === '').map(([field]) => field);
}

/** Whether there is enough for a dry run; the server's verdict names the faults. */
export function isComplete(form: TicketForm): boolean {
  return form.securityId !== null && missingIn(form).length === 0;
}

const PRICES_AND_QUANTITY = ['quantity', 'limit', 'stop'] as const;
const AMOUNTS = [...PRICES_AND_QUANTITY, 'displayQuantity', 'minQuantity'] as const;

/** Visible number fields whose text could mean more than one number. */
export function unclearIn(form: TicketForm, formats: Formats): readonly (typeof AMOUNTS)[number][] {
  const isShown = { quantity: true, limit: hasLimit(form.kind), stop: hasStop(form.kind), ...propertiesFor(form) };
  return AMOUNTS.filter((key) => isShown[key] && isUnclear(form[key], formats));
}

/** The order that the form means. An empty number is left out, and the server's error names it. */
export function bodyOf(form: TicketForm, securityId: number, formats: Formats): OrderBody {
  const { kind, tif } = form;
  const offers = propertiesFor(form);
  const given = <Key extends keyof OrderBody>(key: Key, value: OrderBody[Key] | null | ''): Partial<OrderBody> =>
    value === null || value === '' ? {} : { [key]: value };
  return {
    objectType: kind,
    securityId,
    side: form.side,
    tif,
    ...given('quantity', amountOf(form.quantity, formats)),
    ...given('limit', hasLimit(kind) ? amountOf(form.limit, formats) : ''),
    ...given('stop', hasStop(kind) ? amountOf(form.stop, formats) : ''),
    ...given('tifDateTime', tif === 'GTD' ? form.until : ''),
    ...given('accountId', form.accountId),
    ...given('strategyId', form.strategyId),
    ...given('exchangeId', form.exchangeId),
    ...given('reference', form.reference.trim()),
    ...given('postOnly', (form.postOnly && offers.postOnly) || null),
    ...given('displayQuantity', offers.displayQuantity ? amountOf(form.displayQuantity, formats) : ''),
    ...given('minQuantity', offers.minQuantity ? amountOf(form.minQuantity, formats) : ''),
    ...given('reduceOnly', form.reduceOnly || null),
  };
}

/** Another security keeps how much and how, but no price of the one before. */
export function withSecurity(form: TicketForm, securityId: number | null): TicketForm {
  if (form.securityId === securityId) return form;
  return { ...form, securityId, limit: '', stop: '', exchangeId: null, accountId: null };
}

/** Values of a click in another widget; a price makes a market order a limit order. */
export function withFill(form: TicketForm, fill: TicketFill, formats: Formats): TicketForm {
  const next = { ...withSecurity(form, fill.securityId) };
  if (fill.side !== undefined) next.side = fill.side;
  if (fill.quantity !== undefined) next.quantity = typed(fill.quantity, formats);
  if (fill.limit !== undefined) {
    next.limit = typed(fill.limit, formats);
    if (!hasLimit(next.kind)) next.kind = 'LimitOrder';
  }
  if (fill.stop !== undefined) {
    next.stop = typed(fill.stop, formats);
    if (!hasStop(next.kind)) next.kind = 'StopOrder';
  }
  return next;
}

/** A price for the order that is being changed; its type, side and quantity stay. */
export function isPriceFor(order: OrderVO, fill: TicketFill): boolean {
  const isSame = fill.securityId === order.securityId && (fill.side ?? order.side) === order.side;
  return isSame && fill.quantity === undefined && (fill.limit !== undefined || fill.stop !== undefined);
}

/** Sets the prices that the type of the order has, and no others. */
export function withPrices(
  form: TicketForm,
  { limit, stop }: Pick<TicketFill, 'limit' | 'stop'>,
  formats: Formats,
): TicketForm {
  return {
    ...form,
    ...(limit !== undefined && hasLimit(form.kind) ? { limit: typed(limit, formats) } : {}),
    ...(stop !== undefined && hasStop(form.kind) ? { stop: typed(stop, formats) } : {}),
  };
}

/** A live order to be changed; `timeZone` is that of its exchange. */
export function formOf(order: OrderVO, formats: Formats, timeZone: string): TicketForm {
  return {
    securityId: order.securityId,
    side: order.side,
    kind: order.objectType,
    quantity: typed(order.quantity, formats),
    limit: typed(order.limit, formats),
    stop: typed(order.stop, formats),
    tif: order.tif,
    until: order.tifDateTime === null ? '' : dayEndingAt(order.tifDateTime, timeZone),
    accountId: order.accountId,
    strategyId: order.strategyId,
    exchangeId: order.exchangeId,
    reference: order.reference ?? '',
    postOnly: order.postOnly ?? false,
    displayQuantity: typed(order.displayQuantity, formats),
    minQuantity: typed(order.minQuantity, formats),
    reduceOnly: order.reduceOnly ?? false,
  };
}

/** The exchange's day that closes then: a close at midnight ends the day before it. */
function dayEndingAt(close: number, timeZone: string): string {
  // The Swedish locale writes dates as date fields need them.
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeZone }).format(close - 1);
}

/** A change contains the identity of the order and the changed terms only: the rest stays as it is. */
export function changeOf(
  order: OrderVO,
  form: TicketForm,
  formats: Formats,
  timeZone: string,
): OrderBody & { intId: string } {
  const before = bodyOf(formOf(order, formats, timeZone), order.securityId, formats);
  const meant = bodyOf(form, order.securityId, formats);
  const { objectType, securityId, side } = meant;
  const isChanged = (key: keyof OrderBody): boolean => meant[key] !== undefined && meant[key] !== before[key];
  // A day means something only beside the kind of time that it belongs to.
  const life = isChanged('tif') || isChanged('tifDateTime') ? (['tif', 'tifDateTime'] as const) : [];
  const changed = [...PRICES_AND_QUANTITY.filter(isChanged), ...life].filter((key) => meant[key] !== undefined);
  return { intId: order.intId, objectType, securityId, side, ...Object.fromEntries(changed.map((key) => [key, meant[key]])) };
}

const TERMS = ['quantity', 'limit', 'stop', 'tif', 'tifDateTime'] as const;

/** Whether an order is still what it was, fills and states aside. */
export function hasSameTerms(order: OrderVO, before: OrderVO): boolean {
  return TERMS.every((key) => (order[key] ?? null) === (before[key] ?? null));
}

/** The order was changed elsewhere while it is edited here: fields that the user has not edited follow it, the others stay. */
export function rebased(form: TicketForm, before: TicketForm, now: TicketForm): TicketForm {
  const keys = Object.keys(now) as (keyof TicketForm)[];
  const touched = keys.filter((key) => form[key] !== before[key]);
  return { ...now, ...Object.fromEntries(touched.map((key) => [key, form[key]])) };
}

/** The whole order as it would be after the change: what is left empty stays as it is. */
export function termsOf(order: OrderVO, form: TicketForm, formats: Formats, timeZone: string): OrderBody {
  const before = bodyOf(formOf(order, formats, timeZone), order.securityId, formats);
  return { ...before, ...bodyOf(form, order.securityId, formats) };
}

/** A buy without a limit may slip, and its notional counts that in. */
export function maySlip(order: Pick<TicketForm, 'side' | 'kind'>): boolean {
  return order.side === 'BUY' && !hasLimit(order.kind);
}
