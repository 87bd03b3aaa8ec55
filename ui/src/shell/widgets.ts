/** Widget registry, by the name that layouts store. The code of a widget is loaded when it is first shown. */

import type { Component } from 'svelte';
import type { Texts } from '../texts';
import type { Role } from '../wire/types';

export type WidgetId = keyof Texts['widgets'];

export interface Widget {
  load(): Promise<{ default: Component }>;
  /** Stays mounted behind another tab, because it may hold unsent input. */
  isKept?: boolean;
  /** The least role that may see it; all roles where it is missing. */
  role?: Role;
  /** Only a member of a cluster offers it. */
  isOfMembers?: boolean;
}

export const WIDGETS: Record<WidgetId, Widget> = {
  market: { load: () => import('../features/market/MarketGrid.svelte') },
  chart: { load: () => import('../features/chart/Chart.svelte') },
  book: { load: () => import('../features/book/OrderBook.svelte') },
  ticket: { load: () => import('../features/ticket/OrderTicket.svelte'), isKept: true },
  orders: { load: () => import('../features/orders/OpenOrders.svelte') },
  history: { load: () => import('../features/history/OrderHistory.svelte') },
  positions: { load: () => import('../features/positions/Positions.svelte') },
  transactions: { load: () => import('../features/transactions/Transactions.svelte') },
  balances: { load: () => import('../features/balances/Balances.svelte') },
  values: { load: () => import('../features/values/ValueHistory.svelte') },
  past: { load: () => import('../features/past/PastState.svelte') },
  strategies: { load: () => import('../features/strategies/Strategies.svelte') },
  sessions: { load: () => import('../features/sessions/Sessions.svelte') },
  cluster: { load: () => import('../features/cluster/Cluster.svelte'), isOfMembers: true },
  log: { load: () => import('../features/log/Log.svelte') },
  risk: { load: () => import('../features/risk/Risk.svelte') },
  users: { load: () => import('../features/users/Users.svelte'), role: 'ADMIN' },
  audit: { load: () => import('../features/audit/Audit.svelte'), role: 'ADMIN' },
  breaks: { load: () => import('../features/breaks/Breaks.svelte') },
  parameters: { load: () => import('../features/parameters/Parameters.svelte') },
};

export const WIDGET_IDS = Object.keys(WIDGETS) as WidgetId[];

export function isWidget(id: string): id is WidgetId {
  return id in WIDGETS;
}
