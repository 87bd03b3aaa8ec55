import { expect, test } from 'vitest';
import { typeWord } from '../../src/features/transactions/columns';
import { ENGLISH, loadTexts } from '../../src/texts';

const german = await loadTexts('de');

test('what a venue booked besides trades has its name beside the type', () => {
  const word = (type: 'SELL' | 'CREDIT' | 'INTEREST_PAID', venueKind: string | null) => [ENGLISH, german].map((texts) => typeWord({ type, venueKind }, texts));
  expect(word('SELL', null)).toEqual(['Sell', 'Verkauf']);
  expect(word('INTEREST_PAID', 'FUNDING')).toEqual(['Interest paid: funding', `${german.transactionType.INTEREST_PAID}: Finanzierung`]);
  // A kind that this screen does not know yet.
  expect(word('CREDIT', 'AIRDROP')).toEqual(['Credit: AIRDROP', `${german.transactionType.CREDIT}: AIRDROP`]);
});
