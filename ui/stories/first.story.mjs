/** First steps of a new user, and the instrument header. */

import { fillTicket, grid, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';
import { check } from './person.story.mjs';

const QUIET = ['demo.activity=off'];

/** A new user reads that no money is real, buys, sees the fill and closes; the panel then never comes back. */
async function firstSteps({ server, page, shoot }) {
  await openScreen(page, server);
  const steps = page.getByRole('region', { name: 'First steps' });
  await steps.getByText('simulated').waitFor();
  for (const name of ['SERVER', 'TREND', 'MAKER']) await steps.getByText(name, { exact: true }).waitFor();
  const done = (count) => page.waitForFunction((wanted) => document.querySelectorAll('li.done').length === wanted, count);
  await fillTicket(page, { Quantity: '5', 'Limit price': '280' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
  await done(2);
  const strip = page.getByRole('group', { name: 'Position', exact: true });
  await strip.getByText('Long').waitFor();
  await shoot('story-first-steps');
  await strip.getByRole('button', { name: 'Flatten' }).click();
  const dialog = page.getByRole('dialog', { name: 'Close AAPL?' });
  await dialog.getByText('Sell 5 AAPL at market.').waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await done(3);
  await strip.waitFor({ state: 'detached' });
  await steps.getByRole('button', { name: 'Do not show again' }).click();
  await page.reload();
  await ticket(page).getByLabel('Quantity').waitFor();
  check((await steps.count()) === 0, 'the first steps came back');
}

/** Reversing goes through the ticket, with twice the quantity on the other side. */
async function reverses({ server, page }) {
  await server.call('POST', '/rest/execution/order/market', { securityId: 1, side: 'BUY', quantity: 30 });
  await openScreen(page, server);
  const strip = page.getByRole('group', { name: 'Position', exact: true });
  await strip.getByRole('button', { name: 'Reverse' }).click();
  await ticket(page).getByRole('button', { name: /^Sell 60 AAPL/ }).waitFor();
}

/** The instrument leads: its name, its price, the day. What is told of the past stands in a drawer. */
async function instrumentLeads({ server, page, shoot }) {
  await openScreen(page, server);
  const chart = page.getByRole('region', { name: 'Chart' });
  for (const words of ['AAPL', 'Apple Inc.', 'Day']) await chart.getByText(words, { exact: true }).first().waitFor();
  const size = await chart.locator('.last').evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize));
  check(size >= 24, `the price is ${size} pixels high`);
  await page.keyboard.press('Alt+N');
  const drawer = await page.getByRole('dialog', { name: 'Notifications' }).boundingBox();
  check(Math.round(drawer.x + drawer.width) === 1440 && drawer.height >= 880, 'the notices are no drawer');
  await shoot('story-drawer');
}

/** Whether two elements stand in one line. */
async function areInLine(one, other) {
  const [first, second] = [await one.boundingBox(), await other.boundingBox()];
  return Math.abs(first.y + first.height / 2 - second.y - second.height / 2) < 8;
}

/** One bar for each stack: what a panel needs stands beside its tab. The first steps are in sight as a whole. */
async function oneBarForEachStack({ server, page }) {
  await openScreen(page, server);
  const tab = (name) => page.getByRole('tab', { name });
  const button = (name) => page.getByRole('button', { name, exact: true });
  check(await areInLine(tab('Market'), page.getByRole('combobox', { name: 'Add a security' })), 'the market has a second bar');
  check(await areInLine(tab('Open orders'), button('Cancel all')), 'the open orders have a second bar');
  const steps = await page.getByRole('region', { name: 'First steps' }).boundingBox();
  const book = await tab('Order book').boundingBox();
  check(steps.y + steps.height <= book.y, 'the first steps are cut');
  await grid(page, 'Market').getByText('MSFT').click();
  await page.waitForFunction(() => document.querySelector('.symbol.chosen')?.textContent === 'MSFT');
  await page.keyboard.press('Alt+3');
  await button('Refresh').nth(1).waitFor();
  for (const refresh of await button('Refresh').all()) check(await areInLine(tab('Audit'), refresh), 'a page of the admin has a second bar');
}

export default [
  { name: 'every stack of panels has one bar', settings: QUIET, size: { width: 1920, height: 1080 }, run: oneBarForEachStack },
  { name: 'the first steps are made and sent away', settings: QUIET, run: firstSteps },
  { name: 'a position is reversed through the ticket', settings: QUIET, run: reverses },
  { name: 'the instrument leads the page, and notices have a drawer', settings: QUIET, run: instrumentLeads },
];
