/** Position of the toasts: low in the chart, where there are no buttons and little text. */

export const TOAST_WIDTH_PX = 360;
const GAP_PX = 12;
/** The chart's scales of price and time stay in sight. */
const PRICE_SCALE_PX = 72;
const TIME_SCALE_PX = 30;

/** Distances from the edges of the window, in pixels. */
export interface Edges {
  right: number;
  bottom: number;
}

type Box = Pick<DOMRect, 'right' | 'bottom' | 'width' | 'height'>;

/** Without a chart in sight they stand in the corner of the window. */
export function toastEdges(chart: Box | null, page: { width: number; height: number }): Edges {
  if (chart === null || chart.width === 0 || chart.height === 0) return { right: GAP_PX, bottom: GAP_PX };
  const right = page.width - chart.right + PRICE_SCALE_PX;
  const farthest = Math.max(GAP_PX, page.width - TOAST_WIDTH_PX - GAP_PX);
  return { right: Math.min(right, farthest), bottom: page.height - chart.bottom + TIME_SCALE_PX };
}
