/** Chart: own orders and fills beside the candles. */

import { openScreen } from './harness.mjs';

const QUIET = ['demo.activity=off'];
const HEADER_PX = 34;

const chart = (page) => page.getByRole('region', { name: 'Chart' });
const limit = (server, price, quantity) =>
  server.call('POST', '/rest/execution/order/limit', { securityId: 1, side: 'BUY', quantity, limit: price });

/** An order far away must not flatten the candles, and must not be out of mind either. */
async function ordersOutOfSight({ server, page, shoot }) {
  await openScreen(page, server);
  for (const [price, quantity] of [[272, 1], [250, 2], [240, 3], [230, 4], [220, 5]]) await limit(server, price, quantity);
  const below = chart(page).getByRole('list', { name: 'Own orders below the chart' });
  await below.getByText('and 1 more').waitFor();
  const told = await below.getByRole('listitem').allTextContents();
  const wanted = ['↓ Buy 2 @ 250.00', '↓ Buy 3 @ 240.00', '↓ Buy 4 @ 230.00', 'and 1 more'];
  if (told.map((line) => line.trim().replaceAll(/\s+/g, ' ')).join() !== wanted.join()) throw new Error(`below are ${told}`);
  await shoot('story-chart');
}

/** Fills of one minute are told together, beside the bar that they belong to. */
async function fillsInTheLegend({ server, page }) {
  await openScreen(page, server);
  await chart(page).getByText('1d', { exact: true }).click();
  for (const quantity of [10, 20]) {
    await server.call('POST', '/rest/execution/order/market', { securityId: 1, side: 'BUY', quantity });
  }
  await chart(page).getByText(/▲\s+Buy 30 @ 272\./).waitFor();
}

/** The volume that the legend tells of the newest bar, once it is as much as this. */
async function volumeFrom(page, least) {
  const legend = chart(page).locator('.legend');
  const volume = async () => {
    const [told] = await legend.allTextContents();
    return Number(told?.match(/Vol ([\d,]+)/)?.[1].replaceAll(',', '') ?? 0);
  };
  for (let turn = 0; turn < 50; turn += 1) {
    if ((await volume()) >= least) return volume();
    await page.waitForTimeout(100);
  }
  throw new Error(`the newest bar has a volume of ${await volume()}, not of ${least}`);
}

/** A chart that is opened late shows the same bar as one that has been open since the bar began. */
async function barThatHasBegun({ server, page, context }) {
  await openScreen(page, server);
  const hours = await server.call('GET', '/rest/marketdata/bar?security=1&barSize=HOUR_1&limit=24');
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000;
  const traded = hours.filter(({ dateTime }) => dateTime >= midnight).reduce((sum, { vol }) => sum + vol, 0);
  await chart(page).getByText('1d', { exact: true }).click();
  const early = await volumeFrom(page, traded);
  const late = await context.newPage();
  await openScreen(late, server);
  await chart(late).getByText('1d', { exact: true }).click();
  await volumeFrom(late, early);
}

async function headerIsOneLine({ server, page }) {
  await openScreen(page, server);
  await chart(page).getByText(/O\s+[\d.]+\s+H/).waitFor();
  const { height } = await chart(page).locator('.stack-tools').boundingBox();
  if (height > HEADER_PX) throw new Error(`the bar of the chart is ${height} pixels high`);
  const [panel, last] = await Promise.all([chart(page).boundingBox(), chart(page).getByText('1d', { exact: true }).boundingBox()]);
  if (last.x + last.width > panel.x + panel.width) throw new Error('an interval is out of sight');
}

export default [
  { name: 'own orders are drawn where they are near, and told at the edge where they are far', settings: QUIET, run: ordersOutOfSight },
  { name: 'fills of one bar are told together', settings: ['demo.activity=busy'], run: fillsInTheLegend },
  { name: 'a bar contains what was traded before the chart was opened', settings: ['demo.activity=busy'], run: barThatHasBegun },
  ...[1280, 1440].map((width) => ({
    name: `the header of the chart is one line at ${width} pixels`,
    size: { width, height: 800 },
    run: headerIsOneLine,
  })),
];
