/**
 * The value objects of the server, as `contract/json/` has them. Decimals are JSON numbers; instants are epoch
 * milliseconds; dates are `YYYY-MM-DD`. A key that may be absent is `null`, never missing.
 */

export type * from './types/names';
export type * from './types/reference';
export type * from './types/trading';
export type * from './types/market';
export type * from './types/platform';
export type * from './types/comparison';
