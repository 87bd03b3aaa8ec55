import { expect, test } from 'vitest';
import { marketColumns, SYMBOL_PX, type QuoteSource } from '../../src/features/market/columns';
import { layoutOf, sizeOf } from '../../src/shell/layouts';
import { toastEdges } from '../../src/shell/toasts';
import { ENGLISH } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';

/** Of a tall page of this width. */
function marketWidth(width: number): number | undefined {
  const place = layoutOf('trade', 'tall').find(({ widget }) => widget === 'market');
  return place && sizeOf(place, { width, height: 1_000 }).width;
}

test('the market has room for all columns that it shows at first', () => {
  const formats = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
  const columns = marketColumns({ symbolPx: SYMBOL_PX } as QuoteSource, ENGLISH, formats, { remove: () => undefined });
  const needed = columns.filter(({ hidden }) => !hidden).reduce((sum, { width }) => sum + width, 0);
  expect(marketWidth(1_440)).toBeGreaterThan(needed);
  expect(marketWidth(1_600)).toBeGreaterThan(needed);
});

test('a panel keeps its part of a large screen, and leaves room for the others on a small one', () => {
  expect([marketWidth(2_000), marketWidth(1_600), marketWidth(900)]).toEqual([520, 420, 396]);
  expect(sizeOf({ widget: 'orders', height: 0.25 }, { width: 1_600, height: 1_000 })).toEqual({ height: 250 });
});

test.each([
  ['tall', 1_920],
  ['short', 1_440],
] as const)('the chart leads: it has more than half of a %s page of %d pixels', (form, width) => {
  const beside = layoutOf('trade', form).filter(({ widget }) => widget === 'market' || widget === 'ticket');
  const taken = beside.reduce((sum, place) => sum + (sizeOf(place, { width, height: 1_000 }).width ?? 0), 0);
  expect(width - taken).toBeGreaterThan(width / 2);
});

test('a toast stands low in the chart and leaves its scales free', () => {
  const page = { width: 1_600, height: 1_000 };
  expect(toastEdges({ right: 1_296, bottom: 660, width: 750, height: 600 }, page)).toEqual({ right: 376, bottom: 370 });
});

test('a toast stays on the page where the chart is at its left, and in its corner where there is none', () => {
  const page = { width: 1_600, height: 1_000 };
  expect(toastEdges({ right: 200, bottom: 660, width: 200, height: 600 }, page)).toEqual({ right: 1_228, bottom: 370 });
  const hidden = { right: 0, bottom: 0, width: 0, height: 0 };
  expect([toastEdges(null, page), toastEdges(hidden, page)]).toEqual([
    { right: 12, bottom: 12 },
    { right: 12, bottom: 12 },
  ]);
});
