/** Each page in two themes, on a tablet and in two desktop widths, as screenshots to look at. */

import { openScreen } from './harness.mjs';

const PAGES = ['Trade', 'Monitor', 'Admin'];
const SIZES = [
  { width: 1024, height: 768 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
];

/** Places orders, so that the screen has fills, positions and open orders. */
async function trade(server) {
  const order = (kind, more) => server.call('POST', `/rest/execution/order/${kind}`, { side: 'BUY', ...more });
  await order('market', { securityId: 1, quantity: 100 });
  await order('market', { securityId: 2, quantity: 40, side: 'SELL' });
  await order('market', { securityId: 3, quantity: 250 });
  await order('limit', { securityId: 1, quantity: 50, limit: 250 });
  await order('limit', { securityId: 2, quantity: 20, limit: 560, side: 'SELL', tif: 'GTC' });
  await order('stop', { securityId: 3, quantity: 100, stop: 170, side: 'SELL' });
}

async function settle(page) {
  await page.locator('.ag-row').first().waitFor();
  await page.waitForTimeout(700);
}

async function photograph({ server, page, shoot }, theme, size) {
  await trade(server);
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.setViewportSize(size);
  await openScreen(page, server);
  for (const name of PAGES) {
    await page.getByRole('button', { name, exact: true }).click();
    await settle(page);
    await shoot(`${name.toLowerCase()}-${theme}-${size.width}`);
  }
}

export default ['dark', 'light'].flatMap((theme) =>
  SIZES.map((size) => ({
    name: `every page, ${theme}, ${size.width} px wide`,
    size,
    run: (stage) => photograph(stage, theme, size),
  })),
);
