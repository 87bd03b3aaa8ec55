/** Recovery: the server is lost and comes back; the screen shows it and misses nothing. */

import { fillTicket, grid, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';

/** Longer than the server may be silent. */
const SLEEP_MS = 7_000;
const GONE = [/ERR_/, /WebSocket connection/];

/** Those of the browser in which pages run: stopped, they sleep as deep as a closed notebook does. */
async function processesOf(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

async function becomeStale(page, cells, isStale) {
  for (const cell of cells) {
    const wanted = [await cell.elementHandle(), isStale];
    await page.waitForFunction(([element, isWanted]) => element.classList.contains('stale') === isWanted, wanted);
  }
}

export default [
  {
    name: 'the plug is pulled, and after the restart everything is there',
    async run({ server, page, watch, shoot }) {
      const order = { intId: 'before', securityId: 1, side: 'BUY', quantity: 10, limit: 250, tif: 'GTC' };
      await server.call('POST', '/rest/execution/order/limit', order);
      await openScreen(page, server);
      await page.getByRole('tab', { name: 'Open orders' }).click();
      const orders = page.getByRole('grid', { name: 'Open orders' });
      await orders.getByText('250.00').waitFor();

      watch.allow(...GONE);
      await server.kill();
      await page.getByText('No connection to the server').waitFor();
      await shoot('offline');

      await server.run();
      await server.call('POST', '/rest/execution/order/limit', { ...order, intId: 'after', limit: 249 });
      await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
      await page.getByText('Connected again').first().waitFor();
      await orders.getByText('250.00').waitFor();
      await orders.getByText('249.00').waitFor();
      if (await page.getByText('No connection to the server').isVisible()) throw new Error('it still says offline');
    },
  },
  {
    name: 'an order that ended while the server was away is found, also where the first question for the past fails',
    settings: ['demo.activity=off'],
    async run({ server, page, watch }) {
      const order = { intId: 'ended', securityId: 1, side: 'BUY', quantity: 10, limit: 250, tif: 'GTC' };
      await server.call('POST', '/rest/execution/order/limit', order);
      await openScreen(page, server);
      await page.getByRole('tab', { name: 'Order history' }).click();
      const orders = grid(page, 'Order history');
      await orders.getByText('250.00').waitFor();
      watch.allow(...GONE, /503/);
      await server.shutDown();
      let failures = 1;
      const busy = { status: 503, contentType: 'application/problem+json', body: '{}' };
      await page.route(/history\/order\?/, (route) => (failures-- > 0 ? route.fulfill(busy) : route.continue()));
      await server.run();
      await server.call('DELETE', '/rest/execution/order/ended');
      await page.getByText('Connected again').first().waitFor();
      await orders.getByText('Cancelled').first().waitFor();
      await page.getByRole('tab', { name: 'Open orders' }).click();
      await page.getByText('No open orders').waitFor();
      if (failures >= 0) throw new Error('the history was not requested again');
    },
  },
  {
    name: 'an order is found behind a thousand others, and its search stays live',
    settings: ['demo.activity=off'],
    async run({ server, page, shoot }) {
      const OTHERS = 1_050;
      const order = { securityId: 1, side: 'BUY', quantity: 1, limit: 250, tif: 'GTC' };
      const limit = (more) => server.call('POST', '/rest/execution/order/limit', { ...order, ...more });
      const place = async () => {
        for (let made = 0; made < OTHERS / 10; made += 1) await limit({});
      };
      await limit({ intId: 'mine-1', limit: 240 });
      await Promise.all(Array.from({ length: 10 }, place));
      await server.call('POST', '/rest/risk/kill', { scope: 'PLATFORM', reason: 'the story is told' });
      await server.call('PUT', '/rest/risk/state', { scope: 'PLATFORM', state: 'ACTIVE', reason: 'it goes on' });
      await openScreen(page, server);
      await page.getByRole('tab', { name: 'Order history' }).click();
      await page.getByText('1000 rows').waitFor();
      const orders = grid(page, 'Order history');
      const search = page.getByRole('searchbox', { name: 'Search all orders' });
      await search.click();
      await page.keyboard.type('MINE');
      await page.getByText('1 row', { exact: true }).waitFor();
      await orders.getByText('240.00').waitFor();
      await shoot('story-history');
      await limit({ intId: 'mine-2', limit: 241 });
      await orders.getByText('241.00').waitFor();
      await limit({ intId: 'other', limit: 242 });
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Working');
      await page.getByText('1 row', { exact: true }).waitFor();
      await server.call('DELETE', '/rest/execution/order/mine-2');
      await page.getByText('No order fits').waitFor();
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Any status');
      await search.fill('');
      await page.getByText('1000 rows').waitFor();
      await page.getByRole('button', { name: 'Show older' }).click();
      await page.getByText(`${OTHERS + 3} rows`).waitFor();
    },
  },
  {
    name: 'a server that hangs is noticed within seconds, and so is its return',
    async run({ server, page, watch, shoot }) {
      await server.call('POST', '/rest/execution/order/market', { securityId: 1, side: 'BUY', quantity: 10 });
      await openScreen(page, server);
      await page.getByRole('tab', { name: 'Positions' }).click();
      const light = page.getByRole('status', { name: 'Connection' });
      const bid = page.getByRole('grid', { name: 'Market' }).locator('[col-id="bid"] .cell').first();
      const size = page.getByRole('grid', { name: 'Market' }).locator('[col-id="changePercent"] .cell').first();
      const profit = page.getByRole('grid', { name: 'Positions' }).locator('[col-id="unrealized"] .cell').first();
      const cells = [bid, size, profit];
      await becomeStale(page, cells, false);
      // Whatever is asked just then may get no answer.
      watch.allow(...GONE);
      server.freeze();
      await light.getByText('Lagging').waitFor();
      await page.getByText('The server is late or silent').waitFor();
      await becomeStale(page, cells, true);
      const state = page.getByRole('status', { name: 'Trading state' });
      await state.getByText('○').waitFor();
      const chart = page.getByRole('region', { name: 'Chart' });
      await chart.getByText('stale').waitFor();
      await shoot('lagging');
      server.thaw();
      await light.getByText('Live').waitFor();
      await becomeStale(page, cells, false);
      await chart.getByText('stale').waitFor({ state: 'detached' });
      await state.getByText('●').waitFor();
    },
  },
  {
    name: 'a verdict is withdrawn while the server is away',
    settings: ['demo.activity=off'],
    async run({ server, page, watch, shoot }) {
      await openScreen(page, server);
      await fillTicket(page, { Quantity: '5', 'Limit price': '250' });
      await ticket(page).getByText('Would be accepted').waitFor();
      watch.allow(...GONE);
      await server.shutDown();
      await ticket(page).getByText('No connection: not checked').waitFor();
      if (await ticket(page).getByText('Would be accepted').isVisible()) throw new Error('it still says accepted');
      await shoot('story-withdrawn');
      await server.run();
      await ticket(page).getByText('Would be accepted').waitFor();
    },
  },
  {
    name: 'a security without a trade since the start has the last price that is known',
    settings: ['demo.activity=off'],
    async run({ server, page, watch }) {
      await openScreen(page, server);
      const cell = (column) => grid(page, 'Market').locator(`[row-id="6"] [col-id="${column}"] .cell`);
      await cell('last').getByText(/^1\.\d{5}$/).waitFor();
      await cell('changePercent').getByText(/%$/).waitFor();
      if (!(await cell('last').getAttribute('title')).startsWith('Not traded yet')) throw new Error('it passes for a price of today');
      watch.allow(...GONE);
      await server.shutDown();
      await server.run();
      await page.getByText('Connected again').first().waitFor();
      await cell('last').getByText(/^1\.\d{5}$/).waitFor();
    },
  },
  {
    name: 'a tab that slept shows what happened meanwhile',
    async run({ server, page, context }) {
      await openScreen(page, server);
      await page.getByRole('tab', { name: 'Open orders' }).click();
      const pages = await processesOf(context.browser());
      for (const id of pages) process.kill(id, 'SIGSTOP');
      try {
        await server.call('POST', '/rest/execution/order/limit', { securityId: 1, side: 'BUY', quantity: 7, limit: 251.5 });
        await new Promise((resolve) => setTimeout(resolve, SLEEP_MS));
      } finally {
        for (const id of pages) process.kill(id, 'SIGCONT');
      }
      await page.getByRole('grid', { name: 'Open orders' }).getByText('251.50').waitFor();
      await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
    },
  },
  {
    name: 'what other clients do appears at once',
    async run({ server, page }) {
      await openScreen(page, server);
      await page.getByRole('tab', { name: 'Open orders' }).click();
      await server.call('POST', '/rest/execution/order/limit', { securityId: 1, side: 'BUY', quantity: 7, limit: 251.5 });
      await page.getByRole('grid', { name: 'Open orders' }).getByText('251.50').waitFor();
    },
  },
];
