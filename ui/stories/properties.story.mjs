/** Order properties on the ticket: each is typed or clicked by a person, and the venue keeps to it. */

import { fillTicket, grid, row, show, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';
import { check } from './person.story.mjs';

const QUIET = ['demo.activity=off'];
const AAPL = 1;

const choose = (page, label) => ticket(page).getByRole('radio', { name: label, exact: true }).check({ force: true });
const setTif = (page, tif) => ticket(page).getByLabel('Time in force').selectOption(tif);

/** What restricts an order stays in sight while it is set, so it is opened once. */
const openMore = (page) => ticket(page).getByText('More', { exact: true }).click();

async function send(page) {
  await ticket(page).getByText('Would be accepted').waitFor();
  await ticket(page).getByLabel('Quantity').press('Enter');
}

const book = async (server) => (await server.call('GET', `/rest/marketdata/book?security=${AAPL}`))[0];
const newest = async (server) => (await server.call('GET', '/rest/history/order?sort=NEWEST&limit=1'))[0];
const typeInto = async (page, label, text) => {
  await ticket(page).getByLabel(label).click();
  await page.keyboard.type(text);
};

/** Rests below the ask, and is rejected where it would take. */
async function postOnly({ server, page, shoot }) {
  await openScreen(page, server);
  await openMore(page);
  await ticket(page).getByLabel('Post only').check();
  await typeInto(page, 'Quantity', '10');
  await typeInto(page, 'Limit price', '250');
  await shoot('story-post-only');
  await send(page);
  await row(page, 'Open orders', '250.00', 'Working').waitFor();
  check((await newest(server)).postOnly === true, 'the order that rests is not post only');
  await fillTicket(page, { Quantity: '11', 'Limit price': '280' });
  await send(page);
  await show(page, 'Order history');
  await row(page, 'Order history', '280.00', 'Rejected').waitFor();
  const { status, filledQuantity, reason } = await newest(server);
  check(status === 'REJECTED' && filledQuantity === 0 && /take/.test(reason), `the venue says ${status} ${filledQuantity} ${reason}`);
  check((await server.call('GET', '/rest/position')).length === 0, 'a post-only order has traded');
}

/** A type or a time that excludes a property takes it off the ticket, and off the order. */
async function postOnlyGoesWithTheType({ server, page }) {
  await openScreen(page, server);
  await openMore(page);
  await ticket(page).getByLabel('Post only').check();
  await ticket(page).getByLabel('Display qty').fill('2');
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await setTif(page, 'Immediate or cancel');
  for (const label of ['Post only', 'Display qty']) await ticket(page).getByLabel(label).waitFor({ state: 'detached' });
  await ticket(page).getByLabel('Min qty').waitFor();
  await setTif(page, 'Day');
  await choose(page, 'Stop limit');
  await ticket(page).getByLabel('Post only').waitFor({ state: 'detached' });
  await ticket(page).getByLabel('Display qty').waitFor();
  await choose(page, 'Market');
  await ticket(page).getByLabel('Display qty').waitFor({ state: 'detached' });
  await fillTicket(page, { Quantity: '3' });
  await send(page);
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Long').waitFor();
  const { postOnly: isPostOnly, displayQuantity } = await newest(server);
  check(isPostOnly === undefined && displayQuantity === undefined, 'a market order carries what was out of sight');
}

/** The book shows the part, and the list of orders the whole. */
async function displayQuantity({ server, page, shoot }) {
  await openScreen(page, server);
  await openMore(page);
  const [best] = (await book(server)).bids;
  await typeInto(page, 'Quantity', '90');
  await typeInto(page, 'Limit price', String(best.price));
  await typeInto(page, 'Display qty', '100');
  await ticket(page).getByText('Would be refused').waitFor();
  check((await ticket(page).getByLabel('Display qty').getAttribute('aria-invalid')) === 'true', 'more in sight than there is');
  await ticket(page).getByLabel('Display qty').fill('15');
  await shoot('story-display-quantity');
  await send(page);
  await row(page, 'Open orders', best.price.toFixed(2), '90', 'Working').waitFor();
  const level = (await book(server)).bids.find(({ price }) => price === best.price);
  check(level?.quantity === best.quantity + 15, `the book shows ${level?.quantity} where ${best.quantity} were`);
}

/** All that it asks for at once, or nothing. */
async function minQuantity({ server, page, shoot }) {
  await openScreen(page, server);
  await setTif(page, 'Immediate or cancel');
  await openMore(page);
  const [best] = (await book(server)).asks;
  await typeInto(page, 'Quantity', String(best.quantity + 20));
  await typeInto(page, 'Limit price', String(best.price));
  await typeInto(page, 'Min qty', String(best.quantity + 10));
  await shoot('story-min-quantity');
  await send(page);
  await show(page, 'Order history');
  await row(page, 'Order history', 'Cancelled').waitFor();
  const none = await newest(server);
  check(none.filledQuantity === 0 && none.minQuantity === best.quantity + 10, `it traded ${none.filledQuantity}`);
  await fillTicket(page, { Quantity: String(best.quantity + 20), 'Limit price': String(best.price), 'Min qty': '5' });
  await send(page);
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Long').waitFor();
  const { filledQuantity } = await newest(server);
  check(filledQuantity === best.quantity, `${filledQuantity} of ${best.quantity} traded`);
}

/** Nothing to reduce is refused before it is sent; too much is cut to what is held. */
async function reduceOnly({ server, page, shoot }) {
  await openScreen(page, server);
  await openMore(page);
  await ticket(page).getByLabel('Reduce only').check();
  await choose(page, 'Sell');
  await choose(page, 'Market');
  await typeInto(page, 'Quantity', '20');
  await ticket(page).getByText('Would be refused').waitFor();
  await ticket(page).getByText(/may only reduce the position/).waitFor();
  await shoot('story-reduce-only');
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 8 });
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Long').waitFor();
  await send(page);
  await grid(page, 'Positions').getByText('Flat').waitFor();
  const { quantity, filledQuantity } = await newest(server);
  check(quantity === 8 && filledQuantity === 8, `${filledQuantity} of ${quantity} were sold`);
}

export default [
  { name: 'a post-only order rests, and is rejected where it would take', settings: QUIET, run: postOnly },
  { name: 'the ticket offers the properties that go with type and time', settings: QUIET, run: postOnlyGoesWithTheType },
  { name: 'an order shows a part of its quantity', settings: QUIET, run: displayQuantity },
  { name: 'an order trades its minimum at once, or nothing', settings: QUIET, run: minQuantity },
  { name: 'a reduce-only order never turns the position', settings: QUIET, run: reduceOnly },
];
