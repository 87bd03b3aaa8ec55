/** The ticket as a whole, without a browser: the real stores on a virtual clock, and a server that answers as the test wants. */

import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { BLANK } from '../../src/features/ticket/form';
import { TicketModel, type TicketTools } from '../../src/features/ticket/model';
import { PAUSE_MS } from '../../src/features/ticket/verdict';
import { type Application, createApplication } from '../../src/state/application';
import { WireError } from '../../src/wire/error';
import type { Server } from '../../src/wire/server';
import type { OrderBody, SecurityVO, VerdictVO } from '../../src/wire/types';
import { order, tick } from '../state/samples';
import { settle, VirtualClock, VirtualFeed } from '../virtual';

const [STOCK] = [JSON.parse(readFileSync('../contract/json/SecurityVO.json', 'utf8'))].flat() as [SecurityVO];
const AAPL: SecurityVO = { ...STOCK, id: 1, symbol: 'AAPL', currency: 'USD', contractSize: 1, tradeable: true };
const ACCEPTED: VerdictVO = { accepted: true, code: null, field: null, reason: null, notional: 2_724, fee: 0.5 };
const TOO_LARGE: VerdictVO = { accepted: false, code: 'max-order-quantity', field: null, reason: 'PLATFORM: 5000 is above the limit of 1000', notional: 1, fee: 0 };

let feed: VirtualFeed;
let clock: VirtualClock;
let open: Application;
let model: TicketModel;
let calls: string[];
let verdict: VerdictVO;
let placed: (order: OrderBody) => Promise<string>;
let isThere: boolean;
/** Focus requests of the ticket to its form. */
let focus: string[];

function server(): Server {
  const note = (name: string, order: OrderBody) => calls.push(`${name} ${order.intId ?? ''} ${order.side} ${order.quantity} @ ${order.limit ?? 'market'}`);
  const answers: Record<string, (body: OrderBody) => unknown> = {
    identity: () => ({ user: 'anna', role: 'TRADER', strategy: null }),
    settings: () => ({ tag: '"0"', value: {} }),
    securityChanges: () => ({
      sequence: 1,
      value: [AAPL, { ...AAPL, id: 2, symbol: 'SPX', tradeable: false }].map((security) => ({ sequence: 1, securityId: security.id, security })),
    }),
    check: (body) => (note('check', body), verdict),
    checkChange: (body) => (note('check change', body), verdict),
    place: (body) => (note('place', body), placed(body)),
    modify: (body) => void note('modify', body),
    order: () => (isThere ? [order({ intId: 'ID-1' })] : []),
    orderEvents: () => [],
  };
  const lists = ['families', 'exchanges', 'accounts', 'adapters', 'log'];
  const answer = (name: string, body: OrderBody) => (answers[name] ? answers[name](body) : lists.includes(name) ? [] : { sequence: 1, value: [] });
  return new Proxy({}, { get: (_, name: string) => async (body: OrderBody) => answer(name, body) }) as Server;
}

function ticketWith(draft: TicketTools['draft'] = null): TicketModel {
  let minted = 0;
  const { stores, texts, formats, messages } = open;
  return new TicketModel({ stores, texts, formats, messages, draft, onWrite: () => focus.push('quantity'), onFault: () => focus.push('fault'), newId: () => `ID-${++minted}` });
}

beforeEach(async () => {
  [feed, clock, calls, verdict, isThere, focus] = [new VirtualFeed(), new VirtualClock(), [], ACCEPTED, false, []];
  placed = async ({ intId }) => String(intId);
  open = createApplication({ server: server(), feed, clock, memory: { read: () => null, write: () => undefined }, language: 'en' });
  await open.access.identify();
  feed.up();
  await settle();
  open.stores.selection.securityId.set(1);
  open.stores.settings.update((settings) => ({ ...settings, locale: 'en-GB' }));
  model = ticketWith();
});

const view = () => model.view.get();
const write = (change: Partial<typeof BLANK>) => model.edit({ ...view().form, ...change });

async function judged(): Promise<void> {
  clock.advance(PAUSE_MS);
  await settle();
}

describe('a ticket', () => {
  it('asks the server once the order is whole, and says what the button would do', async () => {
    expect([view().sendLabel, view().run.kind]).toEqual(['Buy AAPL limit · quantity, limit price?', 'none']);
    write({ quantity: '10' });
    write({ limit: '272.4' });
    expect([view().sendLabel, view().run.kind, calls]).toEqual(['Buy 10 AAPL limit 272.4', 'checking', []]);
    await judged();
    expect([view().run.kind, calls]).toEqual(['verdict', ['check  BUY 10 @ 272.4']]);
  });

  it('names all that is missing at once, and sends nothing', () => {
    model.submit();
    expect([view().remarks.fields, focus, calls]).toEqual([{ quantity: 'is needed', limit: 'is needed' }, ['fault'], []]);
    write({ quantity: '1.7.0' });
    expect(view().remarks.fields).toEqual({});
  });

  it('does not send what could mean two numbers', () => {
    open.stores.settings.update((settings) => ({ ...settings, locale: 'de-DE' }));
    write({ quantity: '1.700', limit: '272,4' });
    model.submit();
    expect([view().remarks.fields, focus, calls]).toEqual([{ quantity: 'Unclear: write 1700 or 1,7' }, ['fault'], []]);
  });

  it('sends once however often it is told to, and is ready for the next order', async () => {
    write({ quantity: '10', limit: '272.4', reference: 'mine' });
    await judged();
    model.submit();
    model.submit();
    expect(view().sendLabel).toBe('Sending…');
    await settle();
    expect([calls.filter((call) => call.startsWith('place')), view().sentId]).toEqual([['place ID-1 BUY 10 @ 272.4'], 'ID-1']);
    expect([view().form.quantity, view().form.limit, view().form.reference, focus]).toEqual(['', '', 'mine', ['quantity']]);
  });

  it('does not send what is known to be refused, until that is over', async () => {
    verdict = TOO_LARGE;
    write({ quantity: '5000', limit: '272.4' });
    await judged();
    model.submit();
    await settle();
    expect(view().remarks).toEqual({ fields: {}, general: 'PLATFORM: 5,000 is above the limit of 1,000', isNotSent: true });
    expect(calls.filter((call) => call.startsWith('place'))).toEqual([]);
    verdict = ACCEPTED;
    write({ quantity: '500' });
    await judged();
    expect(view().remarks).toEqual({ fields: {}, general: '' });
  });

  it('asks before a large order goes, and sends nothing where the answer is no', async () => {
    verdict = { ...ACCEPTED, notional: 250_000 };
    write({ quantity: '1000', limit: '250' });
    await judged();
    model.submit();
    await settle();
    expect([view().question?.notional, view().isSending]).toEqual([250_000, false]);
    model.decline();
    model.confirm();
    await settle();
    expect(calls.filter((call) => call.startsWith('place'))).toEqual([]);
    model.submit();
    await settle();
    model.confirm();
    await settle();
    expect([view().question, calls.at(-1)]).toEqual([null, 'place ID-1 BUY 1000 @ 250']);
  });

  it.each([
    [true, ['', 'ID-1'], ''],
    [false, ['10', null], 'It did not arrive. Nothing was traded; send it again if you still want it.'],
  ])('asks what became of an order without an answer (it arrived: %s)', async (arrived, form, words) => {
    placed = () => Promise.reject(WireError.unreachable());
    write({ quantity: '10', limit: '272.4' });
    await judged();
    model.submit();
    await settle();
    expect(view().remarks.isOutcomeUnknown).toBe(true);
    isThere = arrived;
    feed.down();
    feed.up();
    await settle();
    expect([[view().form.quantity, view().sentId], view().remarks.general]).toEqual([form, words]);
  });

  it('offers nothing for what cannot be traded, nor while there is no connection', () => {
    open.stores.selection.securityId.set(2);
    expect([view().sendLabel, view().hindrance]).toEqual(['SPX cannot be traded', 'it cannot be traded']);
    open.stores.selection.securityId.set(1);
    feed.down();
    expect(view().hindrance).toBe('offline: nothing can be sent');
    write({ quantity: '10', limit: '272.4' });
    model.submit();
    expect(calls).toEqual([]);
  });

  it('follows the price of its security, and of no other', () => {
    feed.deliver('tick.1', 9, tick({ securityId: 1, bid: 10, ask: 11 }));
    clock.frame();
    expect(view().quote?.tick.ask).toBe(11);
    open.stores.selection.securityId.set(2);
    expect(view().quote).toBeNull();
  });

  it('asks again after a reconnect, though nothing was written', async () => {
    write({ quantity: '10', limit: '272.4' });
    await judged();
    feed.down();
    feed.up();
    await judged();
    expect(calls).toEqual(['check  BUY 10 @ 272.4', 'check  BUY 10 @ 272.4']);
  });
});

describe('a change of a live order', () => {
  const live = order({ intId: 'A-1', quantity: 100, limit: 250 });

  beforeEach(() => {
    feed.deliver('order.>', 5, live);
    clock.frame();
    open.stores.intents.emit('modify', live);
  });

  it('begins with the terms of the order and sends only what changed', async () => {
    expect([view().form.quantity, view().sendLabel, focus]).toEqual(['100', 'Send change', ['quantity']]);
    write({ quantity: '60' });
    await judged();
    model.submit();
    await settle();
    expect(calls).toEqual(['check change A-1 BUY 60 @ market', 'modify A-1 BUY 60 @ market']);
    expect([view().changing, view().sentId, view().form.quantity]).toEqual([null, 'A-1', '']);
  });

  it('takes over what others changed, keeps what was typed, and takes back its question', async () => {
    verdict = { ...ACCEPTED, notional: 250_000 };
    write({ quantity: '60' });
    await judged();
    model.submit();
    await settle();
    expect(view().question).not.toBeNull();
    feed.deliver('order.>', 6, { ...live, limit: 251 });
    clock.frame();
    expect([view().question, view().form.quantity, view().form.limit]).toEqual([null, '60', '251']);
    expect(view().changedTerms).toBe('Buy 100 AAPL limit 251');
  });

  it('is given up when the order ends', () => {
    feed.deliver('order.>', 6, { ...live, status: 'CANCELED' });
    clock.frame();
    expect([view().changing, open.stores.notifications.all.get()[0]?.title]).toEqual([null, 'Order A-1 is no longer open: it can’t be changed']);
  });

  it('survives that its panel is moved', () => {
    write({ quantity: '60' });
    const draft = model.draft();
    model.close();
    model = ticketWith(draft);
    expect([view().changing?.intId, view().form.quantity]).toEqual(['A-1', '60']);
  });
});
