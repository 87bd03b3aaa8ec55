/** Default layouts of the pages. Sizes are parts of the whole, so that they fit every screen. */

import type { WidgetId } from './widgets';

export const PAGES = ['trade', 'monitor', 'admin'] as const;
export type Page = (typeof PAGES)[number];

/** What fits: everything, less in height, or one stack of tabs above another. */
export type Form = 'tall' | 'short' | 'narrow';

const NARROW_BELOW_PX = 1_000;
const SHORT_BELOW_PX = 900;

export function formOf(width: number, height: number): Form {
  if (width < NARROW_BELOW_PX) return 'narrow';
  return height < SHORT_BELOW_PX ? 'short' : 'tall';
}

export interface Placement {
  widget: WidgetId;
  /** Where it goes, seen from another; the first one has the whole. */
  beside?: WidgetId;
  direction?: 'left' | 'right' | 'above' | 'below' | 'within';
  /** Part of the whole width or height. */
  width?: number;
  height?: number;
  /** In pixels: with less its columns are cut off. It is had up to `LEAST_WIDTH_PART` of the whole. */
  leastWidth?: number;
}

/** The columns that the market shows at first, and the room for a scroll bar. */
const MARKET_LEAST_PX = 420;
const LEAST_WIDTH_PART = 0.44;

const TALL: Record<Page, readonly Placement[]> = {
  trade: [
    { widget: 'chart' },
    { widget: 'ticket', beside: 'chart', direction: 'right', width: 0.19 },
    { widget: 'book', beside: 'ticket', direction: 'below', height: 0.31 },
    { widget: 'orders', beside: 'chart', direction: 'below', height: 0.34 },
    { widget: 'market', beside: 'chart', direction: 'left', width: 0.26, leastWidth: MARKET_LEAST_PX },
    { widget: 'positions', beside: 'orders', direction: 'left', width: 0.39 },
    { widget: 'history', beside: 'orders', direction: 'within' },
    { widget: 'transactions', beside: 'orders', direction: 'within' },
    { widget: 'balances', beside: 'positions', direction: 'within' },
  ],
  monitor: [
    { widget: 'positions' },
    { widget: 'strategies', beside: 'positions', direction: 'right', width: 0.42 },
    { widget: 'orders', beside: 'positions', direction: 'below', height: 0.34 },
    { widget: 'log', beside: 'orders', direction: 'below', height: 0.32 },
    { widget: 'sessions', beside: 'strategies', direction: 'below', height: 0.47 },
    { widget: 'balances', beside: 'sessions', direction: 'below', height: 0.2 },
    { widget: 'history', beside: 'orders', direction: 'within' },
    { widget: 'transactions', beside: 'orders', direction: 'within' },
    { widget: 'risk', beside: 'sessions', direction: 'within' },
    { widget: 'breaks', beside: 'orders', direction: 'within' },
    { widget: 'values', beside: 'positions', direction: 'within' },
    { widget: 'past', beside: 'positions', direction: 'within' },
  ],
  admin: [
    { widget: 'users' },
    { widget: 'risk', beside: 'users', direction: 'right', width: 0.5 },
    { widget: 'audit', beside: 'users', direction: 'below', height: 0.5 },
    { widget: 'parameters', beside: 'risk', direction: 'below', height: 0.5 },
    { widget: 'sessions', beside: 'risk', direction: 'within' },
    { widget: 'log', beside: 'audit', direction: 'within' },
  ],
};

/** The ticket has its whole column, the book goes where the eye falls from the market. */
const SHORT_TRADE: readonly Placement[] = [
  { widget: 'chart' },
  { widget: 'ticket', beside: 'chart', direction: 'right', width: 0.2 },
  { widget: 'orders', beside: 'chart', direction: 'below', height: 0.4 },
  { widget: 'market', beside: 'chart', direction: 'left', width: 0.28, leastWidth: MARKET_LEAST_PX },
  { widget: 'book', beside: 'orders', direction: 'left', width: 0.26 },
  { widget: 'positions', beside: 'orders', direction: 'within' },
  { widget: 'history', beside: 'orders', direction: 'within' },
  { widget: 'transactions', beside: 'orders', direction: 'within' },
  { widget: 'balances', beside: 'book', direction: 'within' },
];

/** What a narrow page shows above; everything else is below. */
const NARROW_ABOVE: Record<Page, readonly WidgetId[]> = {
  trade: ['market', 'chart', 'book', 'ticket'],
  monitor: ['positions', 'values', 'past', 'strategies', 'sessions', 'risk'],
  admin: ['users', 'risk', 'parameters'],
};

export function layoutOf(page: Page, form: Form): readonly Placement[] {
  if (form === 'narrow') return narrow(page);
  return form === 'short' && page === 'trade' ? SHORT_TRADE : TALL[page];
}

/** In pixels; a size that the layout does not give is left out. */
export function sizeOf(place: Placement, whole: { width: number; height: number }): { width?: number; height?: number } {
  const { width, height, leastWidth = 0 } = place;
  const least = Math.min(leastWidth, LEAST_WIDTH_PART * whole.width);
  return {
    ...(width !== undefined && { width: Math.max(width * whole.width, least) }),
    ...(height !== undefined && { height: height * whole.height }),
  };
}

function narrow(page: Page): Placement[] {
  const above = NARROW_ABOVE[page];
  const below = TALL[page].map((place) => place.widget).filter((widget) => !above.includes(widget));
  return [...stack(above, {}), ...stack(below, { beside: above[0], direction: 'below', height: 0.45 })];
}

function stack(widgets: readonly WidgetId[], first: Omit<Placement, 'widget'>): Placement[] {
  return widgets.map((widget, place) =>
    place === 0 ? { widget, ...first } : { widget, beside: widgets[0], direction: 'within' },
  );
}
