/** Manual use: typing over a selection, pressing every sign, making the window narrow. */

import { fillTicket, grid, row, runOnRow, show, ticket } from './locators.mjs';
import { clockAt, NOON, openScreen } from './harness.mjs';

const QUIET = ['demo.activity=off'];
const AAPL = 1;

export function check(isTrue, words) {
  if (!isTrue) throw new Error(words);
}

const limitOrder = (server, quantity, limit) =>
  server.call('POST', '/rest/execution/order/limit', { securityId: AAPL, side: 'BUY', quantity, limit });
const valueOf = (field, text) =>
  field.elementHandle().then((input) => input.ownerFrame().then((page) => page.waitForFunction(([one, value]) => one.value === value, [input, text])));

/** Typing in a change that was just opened replaces the quantity instead of adding digits to it. */
async function typesOverTheQuantity({ server, page }) {
  await limitOrder(server, 25, 250);
  await openScreen(page, server);
  await runOnRow(page, 'Open orders', '250.00', 'Change');
  const quantity = page.getByRole('form', { name: /Change order/ }).getByLabel('Quantity');
  await valueOf(quantity, '25');
  await page.keyboard.type('26');
  await valueOf(quantity, '26');
  await page.keyboard.press('Escape');
  await row(page, 'Open orders', '250.00').getByText('AAPL').click();
  await page.keyboard.press('e');
  await valueOf(quantity, '25');
  await page.keyboard.type('27');
  await valueOf(quantity, '27');
  await page.keyboard.press('Enter');
  await row(page, 'Open orders', '250.00', '27').waitFor();
}

/** Whatever is removed from the list, by the mouse or by a key, the ticket stays with its security. */
async function removesByTheMouse({ server, page }) {
  await openScreen(page, server);
  await fillTicket(page, { Quantity: '100' });
  for (const symbol of ['AMZN', 'MSFT', 'TSLA']) {
    const removed = row(page, 'Market', symbol).first();
    await removed.hover();
    await grid(page, 'Market').getByRole('button', { name: `Remove from the list: ${symbol}` }).click();
    await page.getByText(`${symbol} removed`).waitFor();
    await removed.waitFor({ state: 'detached' });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    check((await ticket(page).getByRole('button', { name: /^Buy 100 AAPL/ }).count()) === 1, `the ticket left AAPL with ${symbol}`);
  }
  await page.getByRole('button', { name: 'Undo' }).click();
  await row(page, 'Market', 'TSLA').first().waitFor();
  check((await ticket(page).getByRole('button', { name: /^Buy 100 AAPL/ }).count()) === 1, 'the ticket left AAPL by undoing');
}

/** What is seen of each symbol, with the sign of what is cut off. */
function symbolsInSight(page, name) {
  return grid(page, name)
    .locator('[col-id="symbol"] .cell')
    .evaluateAll((cells) =>
      cells.map((cell) => {
        const [head, tail] = [cell.querySelector('.head') ?? cell, cell.querySelector('.tail')];
        const box = cell.closest('.ag-cell').getBoundingClientRect();
        const isWhole = tail === null || tail.getBoundingClientRect().right <= box.right + 1;
        const isCut = head.scrollWidth > head.clientWidth + 1;
        const shown = isCut ? '…' : head.textContent;
        return isWhole ? `${shown}${tail?.textContent ?? ''}` : 'cut';
      }),
    );
}

async function tellsOptionsApart({ server, page, shoot }) {
  await openScreen(page, server);
  const search = page.getByRole('combobox', { name: 'Add a security' });
  const options = (await server.call('GET', '/rest/security')).filter(({ objectType }) => objectType === 'Option');
  check(options.length > 1, 'the demo has no two options');
  for (const { symbol } of options) {
    await search.fill(symbol);
    await page.getByRole('option', { name: symbol }).first().waitFor();
    await search.press('Enter');
    await row(page, 'Market', symbol).first().waitFor();
  }
  const seen = (await symbolsInSight(page, 'Market')).filter((symbol) => symbol !== '');
  check(new Set(seen).size === seen.length && !seen.includes('cut') && !seen.includes('…'), `in sight: ${seen.join(', ')}`);
  const call = grid(page, 'Market').locator('[col-id="symbol"] .cell').filter({ hasText: 'C280' }).first();
  await call.hover();
  check(/Call.*280.*2027/.test(await call.getAttribute('title')), `the terms are ${await call.getAttribute('title')}`);
  await shoot('story-options');
}

/** A notice for each order, with the prices at which it traded. */
async function tellsTruePrices({ server, page }) {
  await openScreen(page, server);
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 1_700 });
  const told = page.getByRole('log', { name: 'Notifications' });
  await told.getByText(/^Bought 1,700 AAPL/).waitFor();
  const fills = await server.call('GET', '/rest/history/transaction');
  const trades = fills.filter(({ type }) => type === 'BUY');
  const worth = trades.reduce((sum, { quantity, price }) => sum + quantity * price, 0);
  const [last, average] = [trades.at(-1), (worth / 1_700).toFixed(2)];
  check(trades.length > 1, 'the order was filled at once');
  await told.getByText(`Bought 1,700 AAPL at ${average} on average`).waitFor();
  await told.getByText(`last ${last.quantity.toLocaleString('en')} at ${last.price.toFixed(2)}`).waitFor();
  const count = await told.locator('.toast').count();
  check(count === 1, `${count} notices of one order`);
}

/** What is known to be refused is not asked about; what is asked about says all that matters. */
async function asksOnlyWhatMayPass({ server, page, shoot }) {
  await openScreen(page, server);
  await fillTicket(page, { Quantity: '1000000', 'Limit price': '250' });
  await ticket(page).getByText('Would be refused').waitFor();
  await page.keyboard.press('Enter');
  await ticket(page).getByText('Not sent').waitFor();
  check((await page.getByRole('dialog').count()) === 0, 'a refused order is asked about');
  await fillTicket(page, { Quantity: '1000' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Send this order?' });
  await dialog.getByText('Would be accepted').waitFor();
  for (const words of ['Fee', 'Rialto Desk', '% below the ask']) await dialog.getByText(words).first().waitFor();
  const colour = (part) => part.evaluate((element) => getComputedStyle(element).backgroundColor);
  const side = dialog.getByText('Buy 1,000 AAPL limit 250');
  const button = dialog.getByRole('button', { name: 'Send order' });
  check((await colour(button)) === (await colour(ticket(page).locator('.send'))), 'the button has not the colour of the side');
  check((await side.evaluate((element) => element.className)).includes('buy'), 'the side has no colour');
  await shoot('story-question');
}

/** Numbers are whole, or say that they are cut. */
function cutQuantities(page) {
  return page.locator('.take, .mine').evaluateAll((cells) =>
    cells
      .filter((cell) => cell.scrollWidth > cell.clientWidth + 1 && getComputedStyle(cell).textOverflow !== 'ellipsis')
      .map((cell) => cell.textContent.trim()),
  );
}

async function followsTheWindow({ server, page, shoot }) {
  await openScreen(page, server);
  await page.getByRole('region', { name: 'Order book' }).getByRole('button', { name: /^Sell @/ }).first().waitFor();
  const groups = () => page.locator('.dv-groupview').count();
  const wide = await groups();
  await page.setViewportSize({ width: 834, height: 1112 });
  await page.waitForFunction(() => document.querySelectorAll('.dv-groupview').length === 2);
  await page.getByRole('tab', { name: 'Order book' }).click();
  await page.getByRole('region', { name: 'Order book' }).getByRole('button', { name: /^Sell @/ }).first().waitFor();
  const cut = await cutQuantities(page);
  check(cut.length === 0, `cut without a sign: ${cut.join(', ')}`);
  await shoot('story-made-narrow');
  await page.setViewportSize({ width: 1920, height: 1080 });
  await page.waitForFunction((count) => document.querySelectorAll('.dv-groupview').length === count, wide);
}

/** A venue that goes in the middle of a session is seen on every page, and so are its prices, until it is back. */
async function seesAVenueGo({ server, page, watch, shoot }) {
  watch.allow(/503/);
  const sap = (await server.call('GET', '/rest/security')).find(({ symbol }) => symbol === 'SAP').id;
  for (const securityId of [sap, AAPL]) await server.call('POST', '/rest/execution/order/market', { securityId, side: 'BUY', quantity: 3 });
  await openScreen(page, server);
  await show(page, 'Positions');
  const price = (symbol, look) => row(page, 'Positions', symbol).locator(`[col-id="marketPrice"] .cell${look}`);
  await price('SAP', ':not(.stale)').waitFor();
  const lights = page.getByRole('status', { name: 'Venues' });
  const light = (name) => lights.getByText(name, { exact: true });
  await light('ALPHA').waitFor();
  const search = page.getByRole('combobox', { name: 'Add a security' });
  await search.fill('SAP');
  await page.getByRole('option', { name: 'SAP' }).first().waitFor();
  await search.press('Enter');
  await light('BETA away').waitFor();
  await page.getByRole('log', { name: 'Notifications' }).getByText('BETA is away').waitFor();
  const cell = (symbol) => grid(page, 'Market').getByRole('row').filter({ hasText: symbol }).first();
  const id = await cell('SAP').getAttribute('row-id');
  await grid(page, 'Market').locator(`[row-id="${id}"] [col-id="bid"] .cell.stale`).waitFor();
  await page.getByRole('region', { name: 'Chart' }).getByText('stale').waitFor();
  await price('SAP', '.stale').waitFor();
  await price('AAPL', ':not(.stale)').waitFor();
  await ticket(page).getByTitle('stale').first().waitFor();
  await shoot('story-venue-away');
  const fresh = grid(page, 'Market').locator('[row-id="1"] [col-id="bid"] .cell:not(.stale)');
  await fresh.waitFor();
  await light('BETA').waitFor();
  await page.getByRole('button', { name: 'Monitor', exact: true }).click();
  await light('BETA away').waitFor();
}

export default [
  { name: 'a venue that goes is seen everywhere, and so is its return', settings: ['simulated.faults=BETA:cut=9000', clockAt(NOON)], run: seesAVenueGo },
  { name: 'who types in a change replaces the quantity', settings: QUIET, run: typesOverTheQuantity },
  { name: 'a row removed by the mouse chooses no other security', settings: QUIET, run: removesByTheMouse },
  { name: 'options are told apart', settings: QUIET, run: tellsOptionsApart },
  { name: 'fills of one order are one notice with true prices', settings: QUIET, run: tellsTruePrices },
  { name: 'what would be refused is not asked about', settings: QUIET, run: asksOnlyWhatMayPass },
  { name: 'the layout follows the window', settings: QUIET, size: { width: 1920, height: 1080 }, run: followsTheWindow },
];
