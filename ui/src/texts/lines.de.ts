import type { connectivity as english } from './lines.en';

export const connectivity: typeof english = {
  lines: {
    line: { TRADING: 'Handelsleitung', PRIVATE: 'Privater Kanal', PRICES: 'Preise' },
    openFor: { ORDERS: 'offen für Orders', REDUCE: 'nur verringern', NOTHING: 'geschlossen' },
    venue: 'Handelsplatz ist',
    up: 'steht',
    heard: (age) => `vor ${age}`,
    down: 'aus',
    downFor: (age) => `aus seit ${age}`,
    notApart: 'nicht getrennt',
  },
};
