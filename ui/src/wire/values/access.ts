/** Value objects of users, tokens and the audit. */

import { type Decoded, list, maybe, number, object, text } from '../decode';
import { maybeText, maybeNumber, role } from './names';

export const identity = object({ user: maybeText, role, strategy: maybeText });
export type IdentityVO = Decoded<typeof identity>;

/** What a user or a token may trade; `null`: everything. */
const rightsFields = { accounts: maybe(list(number)), securities: maybe(list(number)), interfaces: maybe(list(text)) };
const rights = object(rightsFields);
export type TradingRights = Decoded<typeof rights>;

export const user = object({ name: text, role, strategy: maybeText, created: number, ...rightsFields });
export type UserVO = Decoded<typeof user>;

const tokenFields = {
  name: text,
  prefix: text,
  role,
  strategy: maybeText,
  created: number,
  expires: maybeNumber,
  ...rightsFields,
};

export const token = object(tokenFields);
export type TokenVO = Decoded<typeof token>;

/** A new token; the only time that its text is seen. */
export const newToken = object({ ...tokenFields, token: text });
export type NewTokenVO = Decoded<typeof newToken>;

export const audit = object({
  id: number,
  dateTime: number,
  user: maybeText,
  door: text,
  peer: maybeText,
  action: text,
  outcome: text,
  detail: maybeText,
  times: number,
  lastDateTime: number,
});
export type AuditVO = Decoded<typeof audit>;
