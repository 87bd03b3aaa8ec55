import type { ServerTexts } from './server';

/** The server speaks English; only what reads badly is written anew. */
export const server: ServerTexts = {
  rules: {
    'insufficient-cash': [
      ['needs {needed:n} {currency}, available are {available:n} {currency}', 'needs {needed} {currency}, the account has {available} {currency} available'],
    ],
  },
  general: {},
  fields: {},
};
