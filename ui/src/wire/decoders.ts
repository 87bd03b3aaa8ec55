/** A decoder for every value object. */

export * from './values/reference';
export * from './values/trading';
export * from './values/market';
export * from './values/risk';
export * from './values/platform';
export * from './values/cluster';
export * from './values/access';
export * from './values/past';
