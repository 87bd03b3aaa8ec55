/** What the ticket offers follows from the venue that the order would go to. */

import { expect, test } from 'vitest';
import { adaptersFor, lackingAt, type Property } from '../../src/features/ticket/offers';
import type { AccountVO, AdapterVO, SecurityVO } from '../../src/wire/types';

const adapter = (sessionQualifier: string, exchangeIds: number[], orderProperties: string[]) =>
  ({ name: `SIMULATED-${sessionQualifier}`, adapterType: 'SIMULATED', sessionQualifier, exchangeIds, orderProperties }) as unknown as AdapterVO;
const ALPHA = adapter('ALPHA', [1, 2], ['postOnly', 'minQuantity', 'reduceOnly']);
const BETA = adapter('BETA', [2, 3], ['displayQuantity', 'reduceOnly']);
const ACCOUNTS = [
  { id: 1, adapterType: 'SIMULATED', sessionQualifier: 'ALPHA' },
  { id: 2, adapterType: 'SIMULATED', sessionQualifier: 'BETA' },
] as AccountVO[];
const on = (exchangeId: number) => ({ exchangeId }) as SecurityVO;

const PROPERTIES: readonly Property[] = ['postOnly', 'displayQuantity', 'minQuantity', 'reduceOnly'];

/** Properties that cannot be had, with who refuses them. */
function lacking(security: SecurityVO, chosen: { accountId?: number; exchangeId?: number } = {}, adapters = [ALPHA, BETA]): string[] {
  const venues = adaptersFor({ accountId: null, exchangeId: null, ...chosen }, security, adapters, ACCOUNTS);
  return PROPERTIES.flatMap((property) => (lackingAt(property, venues) === '' ? [] : [`${property}: ${lackingAt(property, venues)}`]));
}

test('the venue of the security decides', () => {
  expect(lacking(on(1))).toEqual(['displayQuantity: ALPHA']);
  expect(lacking(on(3))).toEqual(['postOnly: BETA', 'minQuantity: BETA']);
});

test('a chosen account or exchange names the venue', () => {
  expect(lacking(on(1), { accountId: 2 })).toEqual(['postOnly: BETA', 'minQuantity: BETA']);
  expect(lacking(on(1), { exchangeId: 3 })).toEqual(['postOnly: BETA', 'minQuantity: BETA']);
});

test('where two venues may get the order, what one of them offers is offered', () => {
  expect(lacking(on(2))).toEqual([]);
});

test('where no venue is known the dry run decides', () => {
  expect([lacking(on(9)), lacking(on(1), {}, [])]).toEqual([[], []]);
});
