/** Names of topics. A character of an id outside `A-Z a-z 0-9 _ -` is percent-encoded, so that one id is one segment. */

import type { BarSize } from './types';

export const topics = {
  tick: (securityId: number) => `tick.${securityId}`,
  trade: (securityId: number) => `trade.${securityId}`,
  book: (securityId: number) => `order-book.${securityId}`,
  bar: (securityId: number, size: BarSize) => `bar.${securityId}.${segment(size)}`,
  orders: 'order.>',
  positions: 'position.>',
  transactions: 'transaction.>',
  balances: 'cash-balance.>',
  values: 'portfolio-value.>',
  lifeCycles: 'life-cycle.>',
  sessions: 'session.>',
  risk: 'risk.>',
  breaks: 'break.>',
  securities: 'security.>',
  log: 'log-event.>',
} as const;

export function segment(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return [...bytes].map(encoded).join('');
}

function encoded(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9_-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
