/**
 * The value objects of the server, as `contract/json/` has them: their types follow from their decoders. Decimals are JSON
 * numbers; instants are epoch milliseconds; dates are `YYYY-MM-DD`. A key that may be absent is `null`, never missing.
 */

export type * from './values/names';
export type * from './values/reference';
export type * from './values/trading';
export type * from './values/market';
export type * from './values/risk';
export type * from './values/platform';
export type * from './values/cluster';
export type * from './values/access';
export type * from './values/past';
export type { Comparison } from './metrics';
