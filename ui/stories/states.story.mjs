/** States of orders, strategies and the platform during failures, and the shortcuts on every page. */

import { fillTicket, grid, row, runOnRow, show, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';
import { check } from './person.story.mjs';

const QUIET = ['demo.activity=off'];
const GONE = [/ERR_/, /WebSocket/, /Failed to load/, /404/];
const AAPL = 1;

const live = (page) => page.getByRole('status', { name: 'Connection' }).getByText('Live');
const place = (page, quantity, limit) => fillTicket(page, { Quantity: quantity, 'Limit price': limit });

/** After a lost answer the ticket asks what became of its order as soon as it can. */
async function settlesFate({ server, page, watch }) {
  watch.allow(...GONE);
  await openScreen(page, server);
  let isTaken = false;
  await page.route('**/rest/execution/order/limit', async (route) => {
    if (isTaken) await route.fetch();
    await route.abort();
  });
  for (const words of ['It did not arrive', 'had arrived']) {
    await place(page, '7', '250');
    await ticket(page).getByText('Would be accepted').waitFor();
    await page.keyboard.press('Enter');
    await ticket(page).getByText('Fate unknown').waitFor();
    await server.shutDown();
    await page.getByRole('status', { name: 'Connection' }).getByText('Offline').waitFor();
    for (const name of [/^Buy 7 AAPL/, 'Cancel all', 'Kill switch']) {
      check(await page.getByRole('button', { name }).isDisabled(), `${name} can be pressed while offline`);
    }
    await server.run();
    await live(page).waitFor();
    await page.getByText(words).first().waitFor();
    isTaken = true;
  }
  const orders = await server.call('GET', '/rest/execution/order');
  check(orders.length === 1, `${orders.length} orders live`);
}

/** Buttons of a strategy follow its phase, and one does not stop it by a slip. */
async function strategiesFollowTheirPhase({ server, page }) {
  await openScreen(page, server);
  await page.keyboard.press('Alt+2');
  await row(page, 'Strategies', 'TREND', 'Running').first().waitFor();
  const button = async (name, action) => {
    const id = await row(page, 'Strategies', name).first().getAttribute('row-id');
    return grid(page, 'Strategies').locator(`[row-id="${id}"]`).getByRole('button', { name: action });
  };
  const refusal = async (name, action) => (await button(name, action)).getAttribute('title');
  check(/runs already/.test(await refusal('TREND', 'Start')), 'a running strategy can be started');
  check(/no program/.test(await refusal('SERVER', 'Start')), 'SERVER does not say why it can never start');
  await (await button('TREND', 'Stop')).click();
  const dialog = page.getByRole('dialog', { name: 'Stop TREND?' });
  await dialog.getByRole('button', { name: 'Stop' }).click();
  await row(page, 'Strategies', 'TREND', 'Stopped').first().waitFor();
  check(/does not run/.test(await refusal('TREND', 'Stop')), 'a stopped strategy can be stopped');
  await (await button('TREND', 'Start')).click();
  await row(page, 'Strategies', 'TREND', 'Running').first().waitFor();
}

/** A banner comes and goes without moving anything, and a halt has one. */
async function bannersMoveNothing({ server, page, watch, shoot }) {
  watch.allow(...GONE);
  await openScreen(page, server);
  const place_ = async () => JSON.stringify(await page.getByRole('tab', { name: 'Market' }).boundingBox());
  const before = await place_();
  await server.call('POST', '/rest/risk/kill', { scope: 'PLATFORM', reason: 'the story is told' });
  await page.getByText(/^Trading is halted: new orders are refused .*the story is told/).waitFor();
  check((await place_()) === before, 'the page moved for a halt');
  await shoot('story-halted');
  await server.shutDown();
  await page.getByText('No connection to the server. What you see is old').waitFor();
  check((await place_()) === before, 'the page moved for a lost connection');
  await server.run();
  await live(page).waitFor();
}

/** Keys that trade lead to Trade; no other page is crammed with what they want. */
async function keysLeadToTrade({ server, page }) {
  await server.call('POST', '/rest/execution/order/limit', { securityId: AAPL, side: 'BUY', quantity: 5, limit: 250 });
  await openScreen(page, server);
  const isFocused = (field) => field.evaluate((element) => element === document.activeElement);
  for (const key of ['Alt+2', 'Alt+3']) {
    await page.keyboard.press(key);
    await page.getByRole('tab', { name: 'Risk' }).first().waitFor();
    await page.keyboard.press('Alt+B');
    await page.getByRole('tab', { name: 'Market' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.closest('form') !== null);
    check(await isFocused(ticket(page).getByLabel('Quantity')), 'the cursor is not in the quantity');
    await page.keyboard.press(key);
    await page.getByRole('tab', { name: 'Risk' }).first().waitFor();
    check((await page.getByRole('tab', { name: 'Order ticket' }).count()) === 0, 'the page was crammed with a ticket');
  }
  await page.keyboard.press('Alt+1');
  await row(page, 'Open orders', '250.00').first().waitFor();
  await ticket(page).getByLabel('Quantity').focus();
  await page.keyboard.press('Alt+O');
  await page.waitForFunction(() => document.activeElement?.closest('.ag-row') !== null);
  await page.keyboard.press('e');
  await page.getByRole('form', { name: /Change order/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+H');
  for (const words of ['On an open order: change it', 'On a position: reduce it', 'Rows of the open orders']) {
    await page.getByRole('dialog').getByText(words).waitFor();
  }
}

/** Numbers as people write them. */
async function readsNumbers({ server, page }) {
  await openScreen(page, server);
  const send = (name) => ticket(page).getByRole('button', { name, exact: true }).waitFor();
  await send('Buy AAPL limit · quantity, limit price?');
  await ticket(page).getByLabel('Quantity').focus();
  await page.keyboard.type('1,700');
  await send('Buy 1,700 AAPL limit · limit price?');
  await fillTicket(page, { 'Limit price': '250' });
  await send('Buy 1,700 AAPL limit 250');
  await fillTicket(page, { Quantity: '10k' });
  await send('Buy 10,000 AAPL limit 250');
  await fillTicket(page, { 'Limit price': '272,4' });
  await ticket(page).getByText('Unclear: write 272.4').waitFor();
  await fillTicket(page, { Quantity: '', 'Limit price': '' });
  await page.keyboard.press('Enter');
  check((await ticket(page).getByText('is needed').count()) === 2, 'not all that is missing is told');
}

/** Half is half, an index is not bought, and nothing shines through a button. */
async function smallThings({ server, page }) {
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 11 });
  await openScreen(page, server);
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Long').waitFor();
  await runOnRow(page, 'Positions', 'AAPL', 'Reduce');
  const half = page.getByLabel('Quantity to take off');
  check((await half.inputValue()) === '5', `half of 11 is ${await half.inputValue()}`);
  await page.keyboard.press('Escape');
  const actions = grid(page, 'Positions').locator('.ag-cell.actions').first();
  const isSideways = await page.locator('[data-widget=positions] .grid-root').evaluate((root) => root.classList.contains('sideways'));
  const background = await actions.evaluate((cell) => getComputedStyle(cell).backgroundColor);
  check(!isSideways || background !== 'rgba(0, 0, 0, 0)', 'text shines through the buttons');
  const search = page.getByRole('combobox', { name: 'Add a security' });
  await search.fill('SPX');
  await page.getByRole('option', { name: 'SPX' }).first().waitFor();
  await search.press('Enter');
  const button = ticket(page).getByRole('button', { name: 'SPX cannot be traded' });
  await button.waitFor();
  check(await button.isDisabled(), 'an index can be bought');
}

/** One button leads from past bars back to the newest one. */
async function chartComesBack({ server, page }) {
  await openScreen(page, server);
  const chart = page.getByRole('region', { name: 'Chart' });
  const now = chart.getByRole('button', { name: 'Back to now' });
  const box = await chart.getByRole('img').boundingBox();
  await page.waitForFunction(() => document.querySelector('.legend')?.textContent);
  check((await now.count()) === 0, 'the way back is offered before the chart was moved');
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x + 250, middle.y, { steps: 5 });
  await page.mouse.up();
  await now.click();
  await now.waitFor({ state: 'detached' });
}

/** The description of the interface is as dark as the screen. */
async function docsFollowTheTheme({ server, page, watch }) {
  // Who leaves a page gives up what it asked for.
  watch.allow(/ERR_ABORTED/);
  await openScreen(page, server);
  await page.evaluate(() => localStorage.setItem('rialto.settings', JSON.stringify({ theme: 'dark' })));
  await page.goto(`${server.url}/docs`);
  await page.waitForFunction(() => document.documentElement.classList.contains('dark-mode'));
  await page.evaluate(() => localStorage.setItem('rialto.settings', JSON.stringify({ theme: 'light' })));
  await page.reload();
  await page.getByText('/rest/account').first().waitFor();
  check(!(await page.evaluate(() => document.documentElement.classList.contains('dark-mode'))), 'the page is dark');
}

export default [
  { name: 'the ticket asks what became of an order when the server is back', settings: QUIET, run: settlesFate },
  { name: 'strategies are started and stopped by their phase, and stopping asks', settings: QUIET, run: strategiesFollowTheirPhase },
  { name: 'banners move nothing, and a halt has one', settings: QUIET, run: bannersMoveNothing },
  { name: 'keys that trade lead to Trade', settings: QUIET, run: keysLeadToTrade },
  { name: 'numbers are read as people write them', settings: QUIET, run: readsNumbers },
  { name: 'half is half and an index is not bought', settings: QUIET, run: smallThings },
  { name: 'a chart that was moved comes back to now', settings: QUIET, run: chartComesBack },
  { name: 'the description of the interface follows the theme', settings: QUIET, run: docsFollowTheTheme },
];
