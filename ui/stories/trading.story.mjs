/** Trading on the screen, and trades of other clients that the screen must show at once. */

import { fillTicket, grid, row, runOnRow, show, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';
import { check } from './person.story.mjs';

const QUIET = ['demo.activity=off'];
const AAPL = 1;

async function place(page, quantity, limit) {
  await fillTicket(page, { Quantity: quantity, 'Limit price': limit });
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
}

async function restModifyFill({ server, page, shoot }) {
  await openScreen(page, server);
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await ticket(page).getByText('2,500.00 USD').waitFor();
  await page.keyboard.press('Enter');
  await row(page, 'Open orders', 'AAPL', '250.00', 'Working').waitFor();
  await shoot('story-resting');
  await runOnRow(page, 'Open orders', 'AAPL', 'Change');
  const change = page.getByRole('form', { name: /Change order/ });
  await change.getByLabel('Limit price').fill('251');
  await change.getByText('2,510.00 USD').waitFor();
  await change.getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
  await row(page, 'Open orders', 'AAPL', '251.00', 'Working').waitFor();
  await runOnRow(page, 'Open orders', 'AAPL', 'Change');
  await change.getByLabel('Limit price').fill('280');
  await page.keyboard.press('Enter');
  await page.getByText('No open orders').waitFor();
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Long', '10').waitFor();
  await shoot('story-filled');
}

/** Enter in any field sends; the ticket is emptied once the server has the order. */
async function send(page) {
  const quantity = ticket(page).getByLabel('Quantity');
  await quantity.press('Enter');
  await page.waitForFunction((input) => input.value === '', await quantity.elementHandle());
}

async function everyKindAndTime({ server, page, shoot }) {
  await openScreen(page, server);
  const choose = (label) => ticket(page).getByRole('radio', { name: label, exact: true }).check({ force: true });
  await choose('Sell');
  await choose('Stop limit');
  await fillTicket(page, { Quantity: '7', 'Limit price': '259', 'Stop price': '260' });
  await ticket(page).getByLabel('Time in force').selectOption('Good till date');
  await fillTicket(page, { 'Good till': '2030-06-28' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await ticket(page).getByRole('button', { name: 'Sell 7 AAPL stop 260 limit 259' }).waitFor();
  await shoot('story-stop-limit');
  await send(page);
  await row(page, 'Open orders', '259.00', 'Working').waitFor();
  await runOnRow(page, 'Open orders', '259.00', 'Change');
  const change = page.getByRole('form', { name: /Change order/ });
  await expectValue(page, change.getByLabel('Good till'), '2030-06-28');
  await change.getByLabel('Quantity').press('Escape');
  await choose('Sell');
  await choose('Stop');
  await fillTicket(page, { Quantity: '3', 'Stop price': '255' });
  await ticket(page).getByLabel('Time in force').selectOption('Good till cancelled');
  await send(page);
  await choose('Market');
  await fillTicket(page, { Quantity: '2' });
  await ticket(page).getByLabel('Time in force').selectOption('Immediate or cancel');
  await ticket(page).getByText('Would be accepted').waitFor();
  await send(page);
  const orders = await server.call('GET', '/rest/history/order');
  const told = orders.map(({ objectType, tif, source }) => `${objectType} ${tif} ${source}`).sort();
  const wanted = ['MarketOrder IOC UI', 'StopLimitOrder GTD UI', 'StopOrder GTC UI'];
  if (told.join() !== wanted.join()) throw new Error(`the server has ${told.join()}`);
}

async function cancel({ server, page }) {
  await openScreen(page, server);
  await place(page, '10', '250');
  await row(page, 'Open orders', 'AAPL', 'Working').getByText('AAPL').click();
  await page.keyboard.press('Delete');
  await page.getByText('No open orders').waitFor();
  await show(page, 'Order history');
  await row(page, 'Order history', 'AAPL', 'Cancelled').waitFor();
}

async function cancelAll({ server, page }) {
  for (const limit of [240, 241, 242]) await limitOrder(server, limit);
  await openScreen(page, server);
  await row(page, 'Open orders', '242.00').waitFor();
  await page.getByRole('button', { name: 'Cancel all', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel all open orders?' });
  await dialog.getByText('3 open orders').waitFor();
  await dialog.getByRole('button', { name: 'Cancel all' }).click();
  await page.getByText('No open orders').waitFor();
  await page.getByText('3 cancels sent').waitFor();
}

async function cancelWhatIsInSight({ server, page, shoot }) {
  for (const limit of [240, 241, 242]) await limitOrder(server, limit);
  await openScreen(page, server);
  await row(page, 'Open orders', '242.00').waitFor();
  await page.getByLabel('Filter: Open orders').fill('limit>240');
  await row(page, 'Open orders', '240.00').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cancel all', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel the open orders in sight?' });
  await dialog.getByText('2 open orders').waitFor();
  await dialog.getByText('One order that it hides stays open.').waitFor();
  await shoot('story-cancel-filtered');
  await dialog.getByRole('button', { name: 'Cancel all' }).click();
  await page.getByText('2 cancels sent').waitFor();
  await page.getByLabel('Filter: Open orders').fill('');
  await row(page, 'Open orders', '240.00', 'Working').waitFor();
}

async function eventsInPlace({ server, page }) {
  await limitOrder(server, 240);
  await openScreen(page, server);
  await row(page, 'Open orders', '240.00').getByText('AAPL').click();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /^What happened to/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await row(page, 'Open orders', '240.00').waitFor();
}

async function closeAPosition({ server, page, shoot }) {
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 10 });
  await openScreen(page, server);
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Long').waitFor();
  await runOnRow(page, 'Positions', 'AAPL', 'Reduce');
  await page.getByLabel('Quantity to take off').fill('4');
  await page.getByRole('dialog').getByRole('button', { name: 'Reduce' }).click();
  // A six stands in many prices: it is the quantity that is waited for.
  await grid(page, 'Positions').locator('[col-id="quantity"]').getByText('6', { exact: true }).waitFor();
  await runOnRow(page, 'Positions', 'AAPL', 'Close');
  await page.getByText('Sell 6 AAPL at market.').waitFor();
  await shoot('story-close');
  await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click();
  await row(page, 'Positions', 'AAPL', 'Flat').waitFor();
}

async function wrongInput({ server, page, watch, shoot }) {
  watch.allow(/40\d|422/);
  await openScreen(page, server);
  await fillTicket(page, { Quantity: '10.5', 'Limit price': '250' });
  await beside(page, 'Quantity', 'quantity 10.5 is not a multiple of 1');
  await fillTicket(page, { Quantity: '-5' });
  await ticket(page).getByText('Would be refused').waitFor();
  if (await ticket(page).getByText('USD').count()) throw new Error('a quantity below zero has a notional');
  await fillTicket(page, { Quantity: '1e3' });
  await beside(page, 'Quantity', 'Unclear: write 1000');
  await fillTicket(page, { Quantity: 'ten' });
  await beside(page, 'Quantity', 'must be a number');
  await shoot('story-wrong-input');
  await fillTicket(page, { Quantity: '', 'Limit price': '' });
  await page.keyboard.press('Enter');
  await beside(page, 'Quantity', 'is needed');
  await beside(page, 'Limit price', 'is needed');
  await page.getByText('No open orders').waitFor();
}

/** The text belongs to the field for a screen reader too. */
async function beside(page, label, text) {
  const field = ticket(page).getByLabel(label);
  await page.waitForFunction(
    ([input, wanted]) => {
      const note = document.getElementById(input.getAttribute('aria-describedby') ?? '');
      return input.getAttribute('aria-invalid') === 'true' && note?.textContent === wanted;
    },
    [await field.elementHandle(), text],
  );
}

async function orderByRest({ server, page }) {
  await openScreen(page, server);
  await page.getByText('No open orders').waitFor();
  await limitOrder(server, 245);
  await row(page, 'Open orders', 'AAPL', '245.00', 'Working').waitFor();
}

async function largeOrderIsConfirmed({ server, page, shoot }) {
  await openScreen(page, server);
  await place(page, '1000', '250');
  const dialog = page.getByRole('dialog', { name: 'Send this order?' });
  await dialog.getByText('Buy 1,000 AAPL limit 250').waitFor();
  await dialog.getByText('Day', { exact: true }).waitFor();
  await dialog.getByText('Rialto Desk').waitFor();
  await shoot('story-confirm');
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByText('No open orders').waitFor();
  await page.getByRole('button', { name: 'Buy 1,000 AAPL limit 250' }).click();
  await dialog.getByRole('button', { name: 'Send order' }).click();
  await row(page, 'Open orders', 'AAPL', '1,000', 'Working').waitFor();
}

/** The server takes the order and the answer is lost; the trader sends again. */
async function sentAgainAfterSilence({ server, page, watch }) {
  watch.allow(/ERR_FAILED|409/);
  await openScreen(page, server);
  const path = '**/rest/execution/order/limit';
  await page.route(path, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await place(page, '10', '250');
  await ticket(page).getByText('it cannot trade twice').waitFor();
  await ticket(page).getByText('Would be accepted').waitFor({ state: 'detached' });
  await page.unroute(path);
  await send(page);
  await ticket(page).getByRole('status').getByText('Working').waitFor();
  const orders = await server.call('GET', '/rest/history/order');
  if (orders.length !== 1) throw new Error(`the server has ${orders.length} orders`);
}

async function largeChangeIsConfirmed({ server, page }) {
  await limitOrder(server, 250);
  await openScreen(page, server);
  await runOnRow(page, 'Open orders', 'AAPL', 'Change');
  const change = page.getByRole('form', { name: /Change order/ });
  await change.getByLabel('Quantity').fill('1000');
  await change.getByText('250,000.00 USD').waitFor();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: /Change order .* to this/ });
  await dialog.getByText('Buy 1,000 AAPL limit 250').waitFor();
  await row(page, 'Open orders', '250.00').getByText('10', { exact: true }).first().waitFor();
  await dialog.getByRole('button', { name: 'Send change' }).click();
  await row(page, 'Open orders', 'AAPL', '1,000', 'Working').waitFor();
}

/** The dry run knows the live order: what it holds already is not counted a second time. */
async function changeIsJudged({ server, page, shoot }) {
  await limitOrder(server, 250);
  await openScreen(page, server);
  await runOnRow(page, 'Open orders', 'AAPL', 'Change');
  const change = page.getByRole('form', { name: /Change order/ });
  await change.getByLabel('Quantity').fill('10.5');
  await change.getByText('Would be refused').waitFor();
  await change.getByText(/10\.5 .*multiple/).waitFor();
  await shoot('story-change-refused');
  await change.getByLabel('Quantity').fill('20');
  await change.getByText('Would be accepted').waitFor();
  await change.getByText('5,000.00 USD').waitFor();
  await shoot('story-change-accepted');
  await change.getByLabel('Limit price').press('Enter');
  await row(page, 'Open orders', 'AAPL', '20', 'Working').waitFor();
}

async function changeIsLeft({ server, page }) {
  await limitOrder(server, 250);
  await openScreen(page, server);
  const change = page.getByRole('form', { name: /Change order/ });
  const open = () => runOnRow(page, 'Open orders', 'AAPL', 'Change');
  await open();
  await change.getByLabel('Limit price').press('Escape');
  await ticket(page).waitFor();
  await open();
  await change.getByLabel('Quantity').fill('777');
  const book = page.getByRole('region', { name: 'Order book' });
  const level = (side, name) => book.getByRole('group', { name: side }).getByRole('button', { name }).first();
  await level('Asks', /^Buy @/).click();
  await expectValue(page, change.getByLabel('Quantity'), '777');
  await level('Bids', /^Sell @/).click();
  await expectValue(page, ticket(page).getByLabel('Quantity'), '');
  await open();
  const [{ intId }] = await server.call('GET', '/rest/execution/order');
  await server.call('DELETE', `/rest/execution/order/${intId}`);
  await page.getByText(`Order ${intId} is no longer open`).first().waitFor();
  await expectValue(page, ticket(page).getByLabel('Quantity'), '');
}

async function expectValue(page, field, value) {
  await page.waitForFunction(([input, wanted]) => input.value === wanted, [await field.elementHandle(), value]);
}

async function uncheckedIsConfirmed({ server, page, watch }) {
  watch.allow(/503/);
  await openScreen(page, server);
  await page.route('**/rest/risk/check', (route) => route.fulfill({ status: 503, body: '' }));
  await fillTicket(page, { Quantity: '1000', 'Limit price': '250' });
  await ticket(page).getByText('Could not be checked').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Send this order?' }).getByText('250,000.00 USD').waitFor();
}

async function verdictFollowsTheState({ server, page, watch }) {
  watch.allow(/422/);
  await openScreen(page, server);
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await ticket(page).getByText('Would be accepted').waitFor();
  const halt = { scope: 'PLATFORM', state: 'HALTED', reason: 'a story' };
  await server.call('PUT', '/rest/risk/state', halt);
  await ticket(page).getByText('Would be refused').waitFor();
  await page.keyboard.press('Enter');
  await ticket(page).getByText('Not sent: it would be refused').waitFor();
  await server.call('PUT', '/rest/risk/state', { ...halt, state: 'ACTIVE' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await send(page);
  await row(page, 'Open orders', 'AAPL', 'Working').waitFor();
}

async function sentOrderStaysInSight({ server, page }) {
  await openScreen(page, server);
  await place(page, '10', '250');
  const sent = ticket(page).getByRole('status');
  await sent.getByText('Working').waitFor();
  await page.getByRole('banner').getByLabel('Strategy').selectOption({ index: 2 });
  await page.getByText('No open orders').waitFor();
  await sent.getByText('Working').waitFor();
}

async function eventsOfAnOrder({ server, page, shoot }) {
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 10 });
  await limitOrder(server, 245);
  await openScreen(page, server);
  await row(page, 'Open orders', 'AAPL').getByText('AAPL').dblclick();
  const dialog = page.getByRole('dialog', { name: /What happened to/ });
  await dialog.getByText('Working').waitFor();
  await shoot('story-events');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

/** At a venue that cancels an order and places another one. */
async function legsOfAnOrder({ server, page, shoot }) {
  await limitOrder(server, 245);
  const [{ intId }] = await server.call('GET', '/rest/execution/order');
  await openScreen(page, server);
  await row(page, 'Open orders', '245.00', 'Working').waitFor();
  await server.call('POST', '/rest/execution/modify/order/limit', { intId, limit: 246 });
  await row(page, 'Open orders', '246.00', 'Working').getByText('AAPL').dblclick();
  const legs = page.getByRole('dialog', { name: /What happened to/ }).getByRole('table', { name: 'Its orders at the venue' });
  await legs.getByRole('row').nth(2).waitFor();
  const states = await legs.locator('tbody td:nth-child(2)').allTextContents();
  check(states.join() === 'Ended,In the market', `the legs are ${states}`);
  await shoot('story-legs');
}

function limitOrder(server, limit) {
  return server.call('POST', '/rest/execution/order/limit', { securityId: AAPL, side: 'BUY', quantity: 10, limit });
}

export default [
  { name: 'a limit order rests, is changed and fills', settings: QUIET, run: restModifyFill },
  { name: 'every kind of order with its time in force', settings: QUIET, run: everyKindAndTime },
  { name: 'an order is cancelled from the keyboard', settings: QUIET, run: cancel },
  { name: 'all orders are cancelled after a second look', settings: QUIET, run: cancelAll },
  { name: 'with a filter only what is in sight is cancelled', settings: QUIET, run: cancelWhatIsInSight },
  { name: 'Enter shows the events of an open order in place', settings: QUIET, run: eventsInPlace },
  { name: 'a position is reduced, then closed', settings: QUIET, run: closeAPosition },
  { name: 'wrong input shows the server’s words beside the field', settings: QUIET, run: wrongInput },
  { name: 'an order placed by REST appears at once', settings: QUIET, run: orderByRest },
  { name: 'a large order is confirmed', settings: QUIET, run: largeOrderIsConfirmed },
  { name: 'an order sent again after silence trades once', settings: QUIET, run: sentAgainAfterSilence },
  { name: 'a change that makes an order large is confirmed', settings: QUIET, run: largeChangeIsConfirmed },
  { name: 'a change is judged before it is sent', settings: QUIET, run: changeIsJudged },
  { name: 'a change is left by Escape, by another order and by the end of its own', settings: QUIET, run: changeIsLeft },
  { name: 'an order that could not be checked is confirmed by an estimate', settings: QUIET, run: uncheckedIsConfirmed },
  { name: 'the verdict follows the trading state', settings: QUIET, run: verdictFollowsTheState },
  { name: 'what became of a sent order is told whichever strategy is selected', settings: QUIET, run: sentOrderStaysInSight },
  { name: 'what happened to an order is told', settings: QUIET, run: eventsOfAnOrder },
  { name: 'the legs of an order are shown', settings: [...QUIET, 'venues.ALPHA.replace=cancelReplace'], run: legsOfAnOrder },
];
