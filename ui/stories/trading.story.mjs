/** What a trader does at the screen, and what others do that he must see at once. */

import { fillTicket, row, runOnRow, show, ticket } from './desk.mjs';
import { openDesk } from './harness.mjs';

const QUIET = ['demo.activity=off'];
const AAPL = 1;

async function place(page, quantity, limit) {
  await fillTicket(page, { Quantity: quantity, 'Limit price': limit });
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
}

async function restModifyFill({ server, page, shoot }) {
  await openDesk(page, server);
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await ticket(page).getByText('2,500.00 USD').waitFor();
  await page.keyboard.press('Enter');
  await row(page, 'Open orders', 'AAPL', '250.00', 'Working').waitFor();
  await shoot('story-resting');
  await runOnRow(page, 'Open orders', 'AAPL', 'Change');
  const change = page.getByRole('form', { name: /Change order/ });
  await change.getByLabel('Limit price').fill('251');
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
  await openDesk(page, server);
  const choose = (label) => ticket(page).getByRole('radio', { name: label, exact: true }).check({ force: true });
  await choose('Sell');
  await choose('Stop limit');
  await fillTicket(page, { Quantity: '7', 'Limit price': '259', 'Stop price': '260' });
  await ticket(page).getByLabel('Time in force').selectOption('Good till date');
  await fillTicket(page, { 'Good till': '2030-06-28' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await shoot('story-stop-limit');
  await send(page);
  await row(page, 'Open orders', '259.00', 'Working').waitFor();
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
  await openDesk(page, server);
  await place(page, '10', '250');
  await row(page, 'Open orders', 'AAPL', 'Working').getByText('AAPL').click();
  await page.keyboard.press('Delete');
  await page.getByText('No open orders').waitFor();
  await show(page, 'Order history');
  await row(page, 'Order history', 'AAPL', 'Cancelled').waitFor();
}

async function cancelAll({ server, page }) {
  for (const limit of [240, 241, 242]) await limitOrder(server, limit);
  await openDesk(page, server);
  await row(page, 'Open orders', '242.00').waitFor();
  await page.getByRole('button', { name: 'Cancel all', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel all open orders?' });
  await dialog.getByText('3 open orders').waitFor();
  await dialog.getByRole('button', { name: 'Cancel all' }).click();
  await page.getByText('No open orders').waitFor();
  await page.getByText('3 cancels sent').waitFor();
}

async function closeAPosition({ server, page, shoot }) {
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 10 });
  await openDesk(page, server);
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Long').waitFor();
  await runOnRow(page, 'Positions', 'AAPL', 'Reduce');
  await page.getByLabel('Quantity to take off').fill('4');
  await page.getByRole('dialog').getByRole('button', { name: 'Reduce' }).click();
  await row(page, 'Positions', 'AAPL', 'Long', '6').waitFor();
  await runOnRow(page, 'Positions', 'AAPL', 'Close');
  await page.getByText('Sell 6 AAPL at market.').waitFor();
  await shoot('story-close');
  await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click();
  await row(page, 'Positions', 'AAPL', 'Flat').waitFor();
}

async function wrongInput({ server, page, watch, shoot }) {
  watch.allow(/40\d|422/);
  await openDesk(page, server);
  await fillTicket(page, { Quantity: '10.5', 'Limit price': '250' });
  await beside(page, 'Quantity', 'quantity 10.5 is not a multiple of 1');
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
  await openDesk(page, server);
  await page.getByText('No open orders').waitFor();
  await limitOrder(server, 245);
  await row(page, 'Open orders', 'AAPL', '245.00', 'Working').waitFor();
}

async function largeOrderIsConfirmed({ server, page, shoot }) {
  await openDesk(page, server);
  await place(page, '1000', '250');
  const dialog = page.getByRole('dialog', { name: 'Send this order?' });
  await dialog.getByText('Buy 1000 AAPL 250').waitFor();
  await shoot('story-confirm');
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByText('No open orders').waitFor();
  await page.getByRole('button', { name: 'Buy 1000 AAPL 250' }).click();
  await dialog.getByRole('button', { name: 'Send order' }).click();
  await row(page, 'Open orders', 'AAPL', '1,000', 'Working').waitFor();
}

async function eventsOfAnOrder({ server, page, shoot }) {
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 10 });
  await limitOrder(server, 245);
  await openDesk(page, server);
  await row(page, 'Open orders', 'AAPL').getByText('AAPL').dblclick();
  const dialog = page.getByRole('dialog', { name: /What happened to/ });
  await dialog.getByText('Working').waitFor();
  await shoot('story-events');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

function limitOrder(server, limit) {
  return server.call('POST', '/rest/execution/order/limit', { securityId: AAPL, side: 'BUY', quantity: 10, limit });
}

export default [
  { name: 'a limit order rests, is changed and fills', settings: QUIET, run: restModifyFill },
  { name: 'every kind of order with its time in force', settings: QUIET, run: everyKindAndTime },
  { name: 'an order is cancelled from the keyboard', settings: QUIET, run: cancel },
  { name: 'all orders are cancelled after a second look', settings: QUIET, run: cancelAll },
  { name: 'a position is reduced, then closed', settings: QUIET, run: closeAPosition },
  { name: 'wrong input shows the server’s words beside the field', settings: QUIET, run: wrongInput },
  { name: 'an order placed by REST appears at once', settings: QUIET, run: orderByRest },
  { name: 'a large order is confirmed', settings: QUIET, run: largeOrderIsConfirmed },
  { name: 'what happened to an order is told', settings: QUIET, run: eventsOfAnOrder },
];
