/** Costly faults of the ticket: sending twice, sending without confirmation, changing other terms than meant, an old verdict. */

import { beforeEach, describe, expect, test } from 'vitest';
import { estimateOf, mustConfirm, notionalOf, touchOf } from '../../src/features/ticket/confirm';
import { isOutcomeUnknown } from '../../src/features/common/outcome';
import { Dispatch, EarlierOrder } from '../../src/features/ticket/dispatch';
import { followOrder } from '../../src/features/ticket/follow';
import { BLANK, changeOf, formOf, hasSameTerms, isPriceFor, maySlip, rebased, termsOf, withPrices } from '../../src/features/ticket/form';
import { DryRuns, estimatesOf, PAUSE_MS, REFRESH_MS, runInSight, runWhile, type DryRun, type Remarks } from '../../src/features/ticket/verdict';
import { Rows } from '../../src/state/table';
import { formatsOf } from '../../src/texts/formats';
import { WireError } from '../../src/wire/error';
import type { OrderBody, OrderVO, SecurityVO, Tick, VerdictVO } from '../../src/wire/types';
import { Later, settle, VirtualClock } from '../virtual';

const formats = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const BUY: OrderBody = { objectType: 'LimitOrder', securityId: 1, side: 'BUY', quantity: 10, limit: 250, tif: 'DAY' };
const LIVE = {
  ...{ objectType: 'LimitOrder', intId: 'ID-1', securityId: 1, accountId: 1, strategyId: 2, exchangeId: 2 },
  ...{ side: 'BUY', quantity: 10, limit: 250, tif: 'DAY', tifDateTime: null, reference: null },
} as OrderVO;

const duplicate = (order: OrderVO | null) => new WireError(409, 'duplicate-order', 'exists', [], order);

describe('an order that is sent again', () => {
  let sent: OrderBody[];
  let answers: (string | Error)[];
  let dispatch: Dispatch;

  beforeEach(() => {
    let minted = 0;
    [sent, answers] = [[], []];
    const place = async (order: OrderBody): Promise<string> => {
      sent.push(order);
      const answer = answers.shift() ?? String(order.intId);
      if (typeof answer !== 'string') throw answer;
      return answer;
    };
    dispatch = new Dispatch(place, () => `ID-${++minted}`);
  });

  test('keeps its id through silence and refusal, and the next order gets another', async () => {
    answers = [WireError.unreachable(), new WireError(503, 'busy', 'busy')];
    await expect(dispatch.send(BUY)).rejects.toThrow('the server cannot be reached');
    await expect(dispatch.send(BUY)).rejects.toThrow('busy');
    expect(await dispatch.send(BUY)).toBe('ID-1');
    expect(await dispatch.send(BUY)).toBe('ID-2');
    expect(sent.map(({ intId }) => intId)).toEqual(['ID-1', 'ID-1', 'ID-1', 'ID-2']);
  });

  test('was sent where the server has it already', async () => {
    answers = [WireError.unreachable(), duplicate(LIVE)];
    await expect(dispatch.send(BUY)).rejects.toThrow();
    expect(await dispatch.send(BUY)).toBe('ID-1');
    expect(await dispatch.send(BUY)).toBe('ID-2');
  });

  test('is told apart from an earlier one with other terms, and does not trade beside it unasked', async () => {
    answers = [WireError.unreachable(), duplicate(LIVE)];
    await expect(dispatch.send(BUY)).rejects.toThrow();
    await expect(dispatch.send({ ...BUY, quantity: 20 })).rejects.toEqual(new EarlierOrder('ID-1'));
    expect(await dispatch.send({ ...BUY, quantity: 20 })).toBe('ID-2');
  });

  test('a foreign order under the id is no success', async () => {
    answers = [duplicate({ ...LIVE, intId: 'other' })];
    await expect(dispatch.send(BUY)).rejects.toThrow('exists');
  });

  test('ids of its own are printable and differ', async () => {
    const own = new Dispatch(async (order) => String(order.intId));
    const [one, other] = [await own.send(BUY), await own.send(BUY)];
    expect(one).toMatch(/^UI-[0-9a-f]{24}$/);
    expect(other).not.toBe(one);
  });
});

test('the fate of an order is unknown where no answer came, and known where the server gave one', () => {
  const isUnknown = (status: number, code: string) => isOutcomeUnknown(new WireError(status, code, ''));
  expect(isOutcomeUnknown(WireError.unreachable())).toBe(true);
  expect([isUnknown(503, 'outcome-unknown'), isUnknown(502, 'unexplained')]).toEqual([true, true]);
  expect([isUnknown(503, 'busy'), isUnknown(422, 'missing'), isUnknown(404, 'unexplained')]).toEqual([false, false, false]);
  expect(isOutcomeUnknown(new Error('a slip of our own'))).toBe(false);
});

test('an order whose fate is unknown has no verdict in sight', () => {
  const run: DryRun = { kind: 'verdict', verdict: accepted(2_500) };
  const unknown: Remarks = { fields: {}, general: 'Fate unknown', isOutcomeUnknown: true };
  expect([runInSight(run, unknown), runInSight(run, { fields: {}, general: 'busy' })]).toEqual([null, run]);
});

test('a verdict is withdrawn while the server is away or silent, and when the order is sent', () => {
  const run: DryRun = { kind: 'verdict', verdict: accepted(2_500) };
  expect((['live', 'lagging', 'offline'] as const).map((link) => runWhile(link, false, run))).toEqual([
    run,
    { kind: 'withdrawn', isSilent: true },
    { kind: 'withdrawn', isSilent: false },
  ]);
  expect([runWhile('live', true, run), runWhile('lagging', true, run)]).toEqual(Array(2).fill({ kind: 'sending' }));
  expect(runWhile('offline', false, { kind: 'none' })).toEqual({ kind: 'none' });
  expect(estimatesOf(runWhile('offline', false, run), BUY)).toEqual({ notional: null, fee: null });
});

test('a quantity or a price that is none is worth nothing that could be told', () => {
  const judged = (verdict: VerdictVO, order: OrderBody = BUY) => {
    const { notional, fee } = estimatesOf({ kind: 'verdict', verdict }, order);
    return [notional, fee];
  };
  const refused = (field: string): VerdictVO => ({ ...accepted(-1_361.53), accepted: false, field, reason: 'no' });
  expect([judged(refused('quantity')), judged(refused('limit')), judged(accepted(2_500))]).toEqual([
    [null, null],
    [-1_361.53, 1],
    [2_500, 1],
  ]);
  const prices: Partial<OrderBody>[] = [{ limit: -1 }, { limit: 0 }, { stop: 0 }];
  expect(prices.map((price) => judged(refused('limit'), { ...BUY, ...price }))).toEqual(Array(3).fill([null, null]));
  const unknown = [estimatesOf(null, BUY), estimatesOf({ kind: 'checking' }, BUY)];
  expect(unknown).toEqual(Array(2).fill({ notional: null, fee: null }));
});

const SHARE = { id: 1, currency: 'USD', contractSize: 1 } as SecurityVO;
const TICK = { bid: 249, ask: 251, last: 250 } as Tick;
const accepted = (notional: number | null): VerdictVO => ({
  ...{ accepted: true, code: null, field: null, reason: null },
  ...{ notional, fee: 1 },
});
const failed = (status: number): DryRun => ({ kind: 'refused', error: new WireError(status, 'some', '') });

test('without a verdict the notional is estimated from the order, else from the market', () => {
  const market: OrderBody = { objectType: 'MarketOrder', securityId: 1, side: 'SELL', quantity: 100 };
  expect([
    estimateOf(BUY, SHARE, null, 'USD'),
    estimateOf(market, { ...SHARE, contractSize: 50 }, TICK, 'USD'),
    estimateOf(market, SHARE, { ...TICK, bid: null }, 'USD'),
    estimateOf(market, SHARE, null, 'USD'),
    estimateOf(BUY, SHARE, TICK, 'EUR'),
    estimateOf({ ...BUY, quantity: 'ten' }, SHARE, TICK, 'USD'),
  ]).toEqual([2_500, 1_245_000, 25_000, null, null, null]);
  expect(notionalOf({ kind: 'verdict', verdict: accepted(7) }, 2_500)).toBe(7);
  expect(notionalOf({ kind: 'verdict', verdict: accepted(null) }, 2_500)).toBe(2_500);
  expect(notionalOf(failed(0), 2_500)).toBe(2_500);
});

test('a dry run that failed does not spare the question; only an unreadable order goes as it is', () => {
  const isAsked = (status: number, notional: number | null) => mustConfirm(failed(status), notional, 1_000);
  expect([isAsked(400, null), isAsked(422, null)]).toEqual([false, false]);
  expect([isAsked(0, null), isAsked(503, 2_500), isAsked(500, 1_000), isAsked(401, null)]).toEqual([true, true, true, true]);
  expect([isAsked(503, 999), mustConfirm(failed(0), null, null)]).toEqual([false, false]);
});

test('a change is weighed as the whole order that it makes', () => {
  const form = { ...formOf(LIVE, formats, 'UTC'), quantity: '1000', limit: '' };
  expect(termsOf(LIVE, form, formats, 'UTC')).toMatchObject({ side: 'BUY', quantity: 1_000, limit: 250 });
});

test('a change of the price leaves out a quantity that another client may have changed', () => {
  const form = formOf(LIVE, formats, 'UTC');
  const named = { intId: 'ID-1', objectType: 'LimitOrder', securityId: 1, side: 'BUY' };
  const changeWith = (change: Partial<typeof form>) => changeOf(LIVE, { ...form, ...change }, formats, 'UTC');
  expect([changeWith({ limit: '251' }), changeWith({ quantity: '20' }), changeWith({ quantity: '10.0', limit: '' })]).toEqual([
    { ...named, limit: 251 },
    { ...named, quantity: 20 },
    named,
  ]);
});

test('an order that is changed elsewhere updates the fields that were not edited here', () => {
  const now: OrderVO = { ...LIVE, quantity: 4, tif: 'GTC' };
  const filled: OrderVO = { ...LIVE, status: 'PARTIALLY_EXECUTED', filledQuantity: 3 };
  expect([hasSameTerms(now, LIVE), hasSameTerms(filled, LIVE)]).toEqual([false, true]);
  const [before, after] = [formOf(LIVE, formats, 'UTC'), formOf(now, formats, 'UTC')];
  const form = rebased({ ...before, limit: '251' }, before, after);
  expect(form).toEqual({ ...after, quantity: '4', limit: '251', tif: 'GTC' });
  expect(changeOf(now, form, formats, 'UTC')).not.toHaveProperty('quantity');
});

test('an empty price begins at the best one of the other side', () => {
  expect([touchOf('BUY', TICK), touchOf('SELL', TICK)]).toEqual([251, 249]);
  expect([touchOf('BUY', { ...TICK, ask: null }), touchOf('BUY', null)]).toEqual([250, null]);
});

test('a click in the book is a price for the order being changed, or the beginning of another', () => {
  expect(isPriceFor(LIVE, { securityId: 1, side: 'BUY', limit: 251 })).toBe(true);
  expect(isPriceFor(LIVE, { securityId: 1, limit: 251 })).toBe(true);
  expect(isPriceFor(LIVE, { securityId: 1, side: 'SELL', limit: 251 })).toBe(false);
  expect(isPriceFor(LIVE, { securityId: 2, side: 'BUY', limit: 251 })).toBe(false);
  expect(isPriceFor(LIVE, { securityId: 1, side: 'BUY' })).toBe(false);
  expect(isPriceFor(LIVE, { securityId: 1, side: 'BUY', quantity: 5, limit: 251 })).toBe(false);
});

test('a price for a change leaves type and quantity alone', () => {
  const form = formOf(LIVE, formats, 'UTC');
  expect(withPrices(form, { limit: 251 }, formats)).toEqual({ ...form, limit: '251' });
  const stop = { ...form, kind: 'StopOrder' as const, limit: '', stop: '240' };
  expect(withPrices(stop, { limit: 251 }, formats)).toEqual(stop);
  expect(withPrices(stop, { stop: 241 }, formats)).toEqual({ ...stop, stop: '241' });
});

test('a buy without a limit is worth at most what is said', () => {
  const slips = (side: 'BUY' | 'SELL', kind: OrderVO['objectType']) => maySlip({ ...BLANK, side, kind });
  expect([slips('BUY', 'MarketOrder'), slips('BUY', 'StopOrder')]).toEqual([true, true]);
  expect([slips('BUY', 'LimitOrder'), slips('SELL', 'MarketOrder')]).toEqual([false, false]);
});

test('an order is followed by its id alone', () => {
  const clock = new VirtualClock();
  const all = new Rows<string, OrderVO>(clock, (order) => order.intId);
  const reported: string[] = [];
  all.upsert({ ...LIVE, status: 'OPEN' });
  clock.frame();
  const stop = followOrder(all, 'ID-1', (order) => reported.push(order.status));
  all.upsert({ ...LIVE, intId: 'other', status: 'REJECTED' });
  clock.frame();
  all.upsert({ ...LIVE, status: 'CANCELED' });
  clock.frame();
  stop();
  all.upsert({ ...LIVE, status: 'EXECUTED' });
  clock.frame();
  expect(reported).toEqual(['OPEN', 'CANCELED']);
});

describe('a verdict', () => {
  const MARKET: OrderBody = { objectType: 'MarketOrder', securityId: 1, side: 'BUY', quantity: 10 };
  let clock: VirtualClock;
  let asked: Later<VerdictVO>[];
  let reported: (number | string | null)[];
  let runs: DryRuns;

  beforeEach(() => {
    [clock, asked, reported] = [new VirtualClock(), [], []];
    const check = () => {
      const answer = new Later<VerdictVO>();
      asked.push(answer);
      return answer.promise;
    };
    runs = new DryRuns(clock, check, (run) => reported.push(run.kind === 'verdict' ? run.verdict.notional : run.kind));
  });

  async function answer(index: number): Promise<void> {
    asked[index]?.resolve(accepted(index));
    await settle();
  }

  test('of a market order is requested again and again, but not while an answer is due', async () => {
    runs.request(MARKET);
    clock.advance(PAUSE_MS + 2 * REFRESH_MS);
    expect(asked).toHaveLength(1);
    await answer(0);
    clock.advance(REFRESH_MS);
    await answer(1);
    runs.request(null);
    clock.advance(3 * REFRESH_MS);
    expect([asked.length, reported]).toEqual([2, ['checking', 0, 1, 'none']]);
  });

  test('of a limit order stands until the world changes', async () => {
    runs.request(BUY);
    clock.advance(PAUSE_MS);
    await answer(0);
    clock.advance(5 * REFRESH_MS);
    expect(asked).toHaveLength(1);
    runs.rerun();
    await answer(1);
    expect(reported).toEqual(['checking', 0, 1]);
  });

  test('that was requested before limits or states changed does not count', async () => {
    runs.request(BUY);
    clock.advance(PAUSE_MS);
    runs.rerun();
    await answer(1);
    await answer(0);
    expect(reported).toEqual(['checking', 1]);
  });

  test('is not requested where there is no order', () => {
    runs.rerun();
    runs.request(MARKET);
    runs.close();
    clock.advance(3 * REFRESH_MS);
    expect(asked).toHaveLength(0);
  });
});
