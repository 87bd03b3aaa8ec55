/** Confirmation of large orders: the notional, and whether the user must confirm the order. */

import type { AccountVO, OrderBody, SecurityVO, Side, Tick } from '../../wire/types';
import { isUnreadable, type DryRun } from './verdict';

/** The server's notional, else the estimate; in base currency, `null` where neither is known. */
export function notionalOf(answer: DryRun, estimate: number | null): number | null {
  return (answer.kind === 'verdict' ? answer.verdict.notional : null) ?? estimate;
}

/** From the prices of the order, else the market's; another currency than the base is not guessed. */
export function estimateOf(order: OrderBody, security: SecurityVO, tick: Tick | null, base: string): number | null {
  const price = order.limit ?? order.stop ?? touchOf(order.side, tick);
  if (security.currency !== base || typeof order.quantity !== 'number' || typeof price !== 'number') return null;
  return Math.abs(order.quantity * price * security.contractSize);
}

/** The best price that an order of this side meets, else the last one. */
export function touchOf(side: Side, tick: Tick | null): number | null {
  return (side === 'BUY' ? tick?.ask : tick?.bid) ?? tick?.last ?? null;
}

/** How far the limit stands from the price that it would meet, as a part of that price; below zero is away from the market. */
export function distanceOf({ side, limit }: OrderBody, tick: Tick | null): number | null {
  const touch = side === 'BUY' ? (tick?.ask ?? null) : (tick?.bid ?? null);
  return typeof limit !== 'number' || touch === null || touch === 0 ? null : (limit - touch) / touch;
}

/**
 * Where the order names no account the server uses the only one that reaches the exchange: that of the venue which the price comes
 * from. With two of them the server rejects the order, so none is named here.
 */
export function accountFor(order: OrderBody, tick: Tick | null, accounts: readonly AccountVO[]): number | null {
  if (order.accountId !== undefined) return order.accountId;
  const isOfVenue = ({ active, adapterType, sessionQualifier }: AccountVO): boolean =>
    active && tick?.feed === (sessionQualifier === null ? adapterType : `${adapterType}-${sessionQualifier}`);
  const [only, ...others] = accounts.filter(isOfVenue);
  return only === undefined || others.length > 0 ? null : only.id;
}

/** An order that the server cannot read needs no confirmation: it is sent for the server's error, and cannot trade. */
export function mustConfirm(answer: DryRun, notional: number | null, confirmFrom: number | null): boolean {
  return !isUnreadable(answer) && needsConfirmation(notional, confirmFrom);
}

/** Orders from a threshold on are confirmed; none without a threshold. An unknown notional is confirmed. */
export function needsConfirmation(notional: number | null, confirmFrom: number | null): boolean {
  if (confirmFrom === null) return false;
  return notional === null || Math.abs(notional) >= confirmFrom;
}
