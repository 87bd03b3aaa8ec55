import { expect, test } from 'vitest';
import {
  BLANK,
  bodyOf,
  changeOf,
  formOf,
  isComplete,
  unclearIn,
  withFill,
  withSecurity,
  type TicketForm,
} from '../../src/features/ticket/form';
import { needsConfirmation } from '../../src/features/ticket/confirm';
import { DryRuns, remarksOf, type DryRun } from '../../src/features/ticket/verdict';
import { Messages } from '../../src/state/messages';
import { ENGLISH } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';
import { WireError } from '../../src/wire/error';
import type { OrderBody, OrderVO, VerdictVO } from '../../src/wire/types';

const formats = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const FORM: TicketForm = { ...BLANK, securityId: 1, quantity: '100', limit: '272.4' };
const ORDER = {
  objectType: 'StopLimitOrder',
  intId: 'ALPHA-4',
  securityId: 1,
  accountId: 1,
  strategyId: 2,
  exchangeId: 2,
  side: 'SELL',
  quantity: 100,
  tif: 'GTD',
  tifDateTime: Date.UTC(2026, 10, 20, 17),
  limit: 269.5,
  stop: 270,
  reference: null,
} as OrderVO;

test('a limit order is what stands in the form and no more', () => {
  expect(bodyOf(FORM, 1, formats)).toEqual({
    objectType: 'LimitOrder',
    securityId: 1,
    side: 'BUY',
    quantity: 100,
    limit: 272.4,
    tif: 'DAY',
  });
});

test('properties go only with the types and times in force that have them', () => {
  const asked = { ...FORM, postOnly: true, displayQuantity: '25', minQuantity: '50', reduceOnly: true };
  const properties = (change: Partial<TicketForm>) => {
    const { postOnly, displayQuantity, minQuantity, reduceOnly } = bodyOf({ ...asked, ...change }, 1, formats);
    return [postOnly, displayQuantity, minQuantity, reduceOnly];
  };
  expect(properties({})).toEqual([true, 25, undefined, true]);
  expect(properties({ tif: 'IOC' })).toEqual([undefined, undefined, 50, true]);
  expect(properties({ tif: 'FOK' })).toEqual([undefined, undefined, undefined, true]);
  expect(properties({ kind: 'StopLimitOrder', stop: '270' })).toEqual([undefined, 25, undefined, true]);
  expect(properties({ kind: 'MarketOrder', tif: 'IOC' })).toEqual([undefined, undefined, 50, true]);
  expect(properties({ displayQuantity: '2.500' })).toEqual([true, 2.5, undefined, true]);
});

test('a change never names the properties, which an order keeps for life', () => {
  const order = { ...ORDER, displayQuantity: 25, reduceOnly: true } as OrderVO;
  const form = { ...formOf(order, formats, 'UTC'), quantity: '50' };
  expect([form.displayQuantity, form.reduceOnly]).toEqual(['25', true]);
  expect(changeOf(order, form, formats, 'UTC')).toEqual({
    intId: 'ALPHA-4',
    objectType: 'StopLimitOrder',
    securityId: 1,
    side: 'SELL',
    quantity: 50,
  });
});

test('prices go only with the kinds that have them', () => {
  const priced = { ...FORM, stop: '270' };
  const prices = (kind: TicketForm['kind']) => {
    const { limit, stop } = bodyOf({ ...priced, kind }, 1, formats);
    return [limit, stop];
  };
  expect(prices('MarketOrder')).toEqual([undefined, undefined]);
  expect(prices('LimitOrder')).toEqual([272.4, undefined]);
  expect(prices('StopOrder')).toEqual([undefined, 270]);
  expect(prices('StopLimitOrder')).toEqual([272.4, 270]);
});

test('what is no number goes to the server as it is', () => {
  expect(bodyOf({ ...FORM, quantity: 'ten', limit: '' }, 1, formats)).toMatchObject({ quantity: 'ten' });
  expect(bodyOf({ ...FORM, limit: '' }, 1, formats)).not.toHaveProperty('limit');
});

test('the dry run is requested when all required fields are filled', () => {
  expect(isComplete(FORM)).toBe(true);
  expect(isComplete({ ...FORM, quantity: ' ' })).toBe(false);
  expect(isComplete({ ...FORM, kind: 'StopLimitOrder' })).toBe(false);
  expect(isComplete({ ...FORM, tif: 'GTD' })).toBe(false);
  expect(isComplete({ ...FORM, securityId: null })).toBe(false);
});

test('another security takes no price of the one before', () => {
  expect(withSecurity(FORM, 2)).toMatchObject({ securityId: 2, quantity: '100', limit: '' });
  expect(withSecurity(FORM, 1)).toBe(FORM);
});

test('a click in the book fills side and price, and makes a market order a limit order', () => {
  const market: TicketForm = { ...FORM, kind: 'MarketOrder' };
  expect(withFill(market, { securityId: 1, side: 'SELL', limit: 272.36 }, formats)).toMatchObject({
    kind: 'LimitOrder',
    side: 'SELL',
    limit: '272.36',
    quantity: '100',
  });
});

test('a change names the order and says what changes', () => {
  const form = { ...formOf(ORDER, formats, 'UTC'), quantity: '50' };
  expect(changeOf(ORDER, form, formats, 'UTC')).toEqual({
    intId: 'ALPHA-4',
    objectType: 'StopLimitOrder',
    securityId: 1,
    side: 'SELL',
    quantity: 50,
  });
  expect(changeOf(ORDER, { ...form, tif: 'DAY' }, formats, 'UTC')).toMatchObject({ tif: 'DAY' });
  expect(changeOf(ORDER, { ...form, until: '2026-11-27' }, formats, 'UTC')).toMatchObject({
    tif: 'GTD',
    tifDateTime: '2026-11-27',
  });
});

test('the day that an order is good till is the one that closes then at its exchange', () => {
  const until = (close: number, timeZone: string) => formOf({ ...ORDER, tifDateTime: close }, formats, timeZone).until;
  expect([
    until(Date.UTC(2026, 10, 21), 'UTC'),
    until(Date.UTC(2026, 10, 20, 21), 'America/New_York'),
    until(Date.UTC(2026, 10, 20, 6), 'Asia/Tokyo'),
    until(Date.UTC(2026, 10, 21, 5), 'America/New_York'),
  ]).toEqual(Array(4).fill('2026-11-20'));
});

test('a number that could be another one is named, where it is in sight', () => {
  const german = formatsOf({ locale: 'de-DE', timeZone: 'UTC' });
  const form: TicketForm = { ...FORM, quantity: '1.000', limit: '1e3', stop: '2.500' };
  expect(unclearIn(form, german)).toEqual(['quantity', 'limit']);
  expect(unclearIn({ ...form, kind: 'StopOrder' }, german)).toEqual(['quantity', 'stop']);
  expect(unclearIn({ ...form, kind: 'StopOrder' }, formats)).toEqual([]);
});

test('orders from the threshold on are confirmed', () => {
  expect([
    needsConfirmation(99_999, 100_000),
    needsConfirmation(100_000, 100_000),
    needsConfirmation(1, 0),
    needsConfirmation(null, 100_000),
    needsConfirmation(1e9, null),
  ]).toEqual([false, true, true, true, false]);
});

const messages = new Messages(ENGLISH, formatsOf({ locale: 'en-GB', timeZone: 'UTC' }));
const REFUSED: VerdictVO = {
  accepted: false,
  code: 'not-a-multiple',
  field: 'quantity',
  reason: 'quantity 10.5 is not a multiple of 1',
  notional: 1,
  fee: 0,
};

test('a verdict stands beside its field, or below where there is none', () => {
  const run: DryRun = { kind: 'verdict', verdict: REFUSED };
  expect(remarksOf(run, ['quantity'], messages)).toEqual({ fields: { quantity: REFUSED.reason }, general: '' });
  expect(remarksOf(run, ['limit'], messages)).toEqual({ fields: {}, general: REFUSED.reason });
});

test('a problem stands beside each field that it names', () => {
  const errors = [
    { field: 'quantity', code: 'missing', reason: 'is needed' },
    { field: 'limit', code: 'missing', reason: 'is needed' },
  ];
  const error = new WireError(422, 'missing', 'quantity is needed; limit is needed', errors);
  const refused: DryRun = { kind: 'refused', error };
  expect(remarksOf(refused, ['quantity', 'limit'], messages)).toEqual({
    fields: { quantity: 'is needed', limit: 'is needed' },
    general: '',
  });
  expect(remarksOf(refused, ['quantity'], messages)).toEqual({ fields: { quantity: 'is needed' }, general: 'limit is needed' });
  expect(remarksOf({ kind: 'refused', error: WireError.unreachable() }, ['quantity'], messages).general).toBe('the server cannot be reached');
});

test('a question that another one follows is given up', () => {
  const timers: (() => void)[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const runs = new DryRuns(
    { after: (_ms, run) => (timers.push(run), () => undefined), every: () => () => undefined },
    (_order, signal) => (signals.push(signal), new Promise(() => undefined)),
    () => undefined,
  );
  const givenUp = () => signals.map((signal) => signal?.aborted);
  runs.request(bodyOf(FORM, 1, formats));
  timers[0]?.();
  expect(givenUp()).toEqual([false]);
  runs.rerun();
  expect(givenUp()).toEqual([true, false]);
  runs.request(null);
  expect(givenUp()).toEqual([true, true]);
});

test('only the answer to the last question counts', async () => {
  const timers: (() => void)[] = [];
  const answers = new Map<number, (verdict: VerdictVO) => void>();
  const reported: DryRun[] = [];
  const runs = new DryRuns(
    { after: (_ms, run) => (timers.push(run), () => undefined), every: () => () => undefined },
    (order) => new Promise((resolve) => answers.set(Number(order.quantity), resolve)),
    (run) => reported.push(run),
  );
  const order = (quantity: number): OrderBody => bodyOf({ ...FORM, quantity: String(quantity) }, 1, formats);
  runs.request(order(1));
  timers[0]?.();
  runs.request(order(2));
  timers[1]?.();
  answers.get(2)?.({ ...REFUSED, notional: 2 });
  answers.get(1)?.({ ...REFUSED, notional: 1 });
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  runs.request(null);
  expect(reported.map((run) => (run.kind === 'verdict' ? run.verdict.notional : run.kind))).toEqual([
    'checking',
    'checking',
    2,
    'none',
  ]);
});
