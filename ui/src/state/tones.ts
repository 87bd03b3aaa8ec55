/** Tones of states: good, waiting, bad. The words are in the texts. */

import type { BreakState, LogLevel, OrderStatus, Phase, SessionState, Side, TradingStateName } from '../wire/types';

export type Tone = 'buy' | 'sell' | 'done' | 'ok' | 'wait' | 'warn' | 'bad' | 'quiet';

export const SIDE_TONE: Record<Side, Tone> = { BUY: 'buy', SELL: 'sell' };

export const ORDER_TONE: Record<OrderStatus, Tone> = {
  OPEN: 'wait',
  SUBMITTED: 'ok',
  PARTIALLY_EXECUTED: 'warn',
  EXECUTED: 'done',
  CANCELED: 'quiet',
  PENDING_CANCEL: 'wait',
  REJECTED: 'bad',
  PENDING_REPLACE: 'wait',
};

export const PHASE_TONE: Record<Phase, Tone> = { INIT: 'wait', PREFEED: 'wait', START: 'wait', RUN: 'ok', EXIT: 'quiet' };

export const SESSION_TONE: Record<SessionState, Tone> = {
  DISCONNECTED: 'bad',
  CONNECTED: 'warn',
  LOGGED_ON: 'ok',
  SUBSCRIBED: 'ok',
};

export const TRADING_TONE: Record<TradingStateName, Tone> = { ACTIVE: 'ok', REDUCING: 'warn', HALTED: 'bad' };

export const BREAK_TONE: Record<BreakState, Tone> = { OPEN: 'bad', EXPLAINED: 'quiet', REPAIRED: 'done', ACCEPTED: 'quiet' };

export const LEVEL_TONE: Record<LogLevel, Tone> = { ERROR: 'bad', WARN: 'warn', INFO: 'quiet', DEBUG: 'quiet', TRACE: 'quiet' };
