import { expect, test } from 'vitest';
import { stepsOf } from '../../src/features/common/steps';
import { onlyLevels } from '../../src/features/log/levels';
import { cancelRefusal, modifyRefusal, staysAt, sweepOf } from '../../src/features/orders/rules';
import { commissionOf } from '../../src/features/transactions/columns';
import { runByKey } from '../../src/parts/grid/actions';
import type { RowChange } from '../../src/parts/grid/types';
import type { LogLine } from '../../src/state/api';
import { ENGLISH } from '../../src/texts';
import type { AccountVO, AdapterVO, OrderStatus, OrderStatusVO, OrderVO } from '../../src/wire/types';

const { refusal } = ENGLISH;
const order = (status: OrderStatus) => ({ status }) as OrderVO;

test('an order is changed only while nothing else is under way', () => {
  const reasons = (status: OrderStatus) => [cancelRefusal(order(status), () => false, refusal), modifyRefusal(order(status), refusal)];
  expect(reasons('SUBMITTED')).toEqual([undefined, undefined]);
  expect(reasons('PENDING_REPLACE')).toEqual([undefined, refusal.changePending]);
  expect(reasons('PENDING_CANCEL')).toEqual([refusal.cancelPending, refusal.cancelPending]);
});

test('a sweep takes what is in sight and not yet being cancelled, and says how much is open out of sight', () => {
  const named = (intId: string, status: OrderStatus) => ({ intId, status }) as OrderVO;
  const inSight = [named('A-1', 'SUBMITTED'), named('A-2', 'PENDING_CANCEL'), named('A-3', 'PARTIALLY_EXECUTED')];
  const ofAnotherStrategy = [named('B-1', 'OPEN'), named('B-2', 'SUBMITTED'), named('B-3', 'EXECUTED')];
  const none = () => false;
  expect(sweepOf(inSight, [...inSight, ...ofAnotherStrategy], none)).toEqual({ intIds: ['A-1', 'A-3'], hidden: 2 });
  expect(sweepOf(inSight, inSight, none)).toEqual({ intIds: ['A-1', 'A-3'], hidden: 0 });
  expect(sweepOf([], inSight, none)).toEqual({ intIds: [], hidden: 3 });
});

test('an order whose venue takes no cancels is not offered one', () => {
  const at = (intId: string, accountId: number) => ({ intId, accountId, status: 'SUBMITTED' }) as OrderVO;
  const venue = (sessionQualifier: string, cancel: string) => ({ adapterType: 'FIX', sessionQualifier, cancel }) as AdapterVO;
  const account = (id: number, sessionQualifier: string) => ({ id, adapterType: 'FIX', sessionQualifier }) as AccountVO;
  const stays = staysAt([venue('A', 'WHILE_OPEN'), venue('B', 'NONE')], [account(1, 'A'), account(2, 'B')]);
  const open = [at('A-1', 1), at('B-1', 2)];
  expect(open.map((order) => cancelRefusal(order, stays, refusal))).toEqual([undefined, refusal.noCancels]);
  expect(open.map((order) => modifyRefusal(order, refusal))).toEqual([undefined, undefined]);
  expect(sweepOf(open, open, stays)).toEqual({ intIds: ['A-1'], hidden: 0 });
});

test('a key runs an action unless there is a reason against it', () => {
  const done: string[] = [];
  const actions = [
    { label: 'Cancel', key: 'Delete', run: (row: string) => void done.push(row) },
    { label: 'Change', key: 'e', refusal: () => 'pending', run: (row: string) => void done.push(row) },
  ];
  expect([runByKey('Delete', 'A', actions), runByKey('e', 'B', actions), runByKey('x', 'C', actions)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(done).toEqual(['A']);
});

test('the steps of an order stand in the order of the journal, with the time between them', () => {
  const event = (sequenceNumber: number, dateTime: number) => ({ sequenceNumber, dateTime }) as OrderStatusVO;
  const steps = stepsOf([event(12, 1_009), event(10, 1_000), event(15, 4_009)]);
  expect(steps.map(({ event: { sequenceNumber }, afterMs }) => [sequenceNumber, afterMs])).toEqual([
    [10, null],
    [12, 9],
    [15, 3_000],
  ]);
});

test('levels that are left out do not come', () => {
  const lines = [{ level: 'ERROR' }, { level: 'INFO' }] as LogLine[];
  const received: RowChange<LogLine>[] = [];
  const source = { watch: (run: (change: RowChange<LogLine>) => void) => (run({ reset: true, upserted: lines, removed: [] }), () => undefined) };
  onlyLevels(source, ['INFO']).watch((change) => received.push(change));
  expect(received).toEqual([{ reset: true, upserted: [{ level: 'ERROR' }], removed: [] }]);
});

test('commission is the sum of what was charged, and unknown where nothing was said', () => {
  expect([
    commissionOf({ executionCommission: 0.05, clearingCommission: 0.002 }),
    commissionOf({ executionCommission: null, clearingCommission: 0.002 }),
    commissionOf({ executionCommission: null, clearingCommission: null }),
  ]).toEqual([expect.closeTo(0.052), 0.002, null]);
});
