import { expect, test } from 'vitest';
import { questionNow } from '../../src/features/positions/question';

test('closing asks again when another quantity is open than was named', () => {
  const closing = (open: number) => questionNow(40, open, true);
  expect([closing(40), closing(540), closing(-40), closing(0)]).toEqual(['holds', 'changed', 'changed', 'closed']);
});

test('taking some off holds while the position stays on its side', () => {
  const reducing = (open: number) => questionNow(-40, open, false);
  expect([reducing(-40), reducing(-10), reducing(5), reducing(0)]).toEqual(['holds', 'holds', 'changed', 'closed']);
});
