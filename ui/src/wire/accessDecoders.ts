/** Decoders of users, tokens and the audit. */

import { list, maybe, number, object, oneOf, text } from './decode';
import type * as vo from './types';

const role = oneOf('VIEWER', 'TRADER', 'STRATEGY', 'ADMIN');
const maybeText = maybe(text);
const maybeNumber = maybe(number);

export const identity = object<vo.IdentityVO>({ user: maybeText, role, strategy: maybeText });
const rights = { accounts: maybe(list(number)), securities: maybe(list(number)), interfaces: maybe(list(text)) };
export const user = object<vo.UserVO>({ name: text, role, strategy: maybeText, created: number, ...rights });

const tokenFields = {
  name: text,
  prefix: text,
  role,
  strategy: maybeText,
  created: number,
  expires: maybeNumber,
  ...rights,
};

export const token = object<vo.TokenVO>(tokenFields);
export const newToken = object<vo.NewTokenVO>({ ...tokenFields, token: text });

export const audit = object<vo.AuditVO>({
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
