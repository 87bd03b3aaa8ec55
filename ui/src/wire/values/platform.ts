/** Value objects of the platform: sessions, log, health. */

import { type Decoded, flag, list, number, object, oneOf, optional, text, textsByKey } from '../decode';
import { maybeText, maybeNumber, phase, sessionState, logLevel } from './names';

export const lifeCycle = object({
  dateTime: number,
  strategyName: text,
  mode: oneOf('REAL_TIME', 'SIMULATION'),
  phase,
  /** Why a strategy that failed was stopped. */
  reason: optional(text),
});
export type LifeCycleEvent = Decoded<typeof lifeCycle>;

export const session = object({
  dateTime: number,
  adapter: text,
  qualifier: maybeText,
  state: sessionState,
});
export type SessionEvent = Decoded<typeof session>;

export const fixSession = object({
  id: text,
  senderCompId: text,
  targetCompId: text,
  state: sessionState,
  peer: maybeText,
  nextIn: number,
  nextOut: number,
  lastReceived: maybeNumber,
  lastSent: maybeNumber,
  nextReset: maybeNumber,
  reason: maybeText,
});
export type FixSessionVO = Decoded<typeof fixSession>;

export const logEvent = object({
  dateTime: number,
  level: logLevel,
  logger: text,
  message: text,
  exceptionClass: maybeText,
  exceptionMessage: maybeText,
});
export type LogEvent = Decoded<typeof logEvent>;

export const imported = object({ changes: number });
export type ImportedVO = Decoded<typeof imported>;

export const healthCheck = object({ name: text, ok: flag, detail: text });
export type HealthCheck = Decoded<typeof healthCheck>;

export const health = object({
  status: oneOf('UP', 'DOWN'),
  checks: list(healthCheck),
});
export type Health = Decoded<typeof health>;

export const generic = object({ strategyName: text, name: text, body: text });
export type GenericEvent = Decoded<typeof generic>;

export const parameters = textsByKey;
