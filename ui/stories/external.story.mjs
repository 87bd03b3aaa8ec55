/** Orders that somebody else placed on the account: marked, cancelled, and claimed for a strategy. */

import { fillTicket, grid, row, runOnRow, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';
import { check } from './person.story.mjs';

const QUIET = ['demo.activity=off', 'simulated.faults=ALPHA:strangers=1'];

/** After our own order somebody else places the same one. */
async function claims({ server, page, shoot }) {
  await openScreen(page, server);
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
  const external = row(page, 'Open orders', 'EXT', '250.00').first();
  await external.waitFor();
  check((await grid(page, 'Open orders').locator('.tag').count()) === 1, 'our own order is marked too');
  await shoot('story-external');
  const id = await external.getAttribute('row-id');
  const button = (name) => grid(page, 'Open orders').locator(`[row-id="${id}"]`).getByRole('button', { name });
  check(/not placed here/.test(await button('Change').getAttribute('title')), 'it can be changed');
  await button('Claim').click();
  const dialog = page.getByRole('dialog', { name: `Claim order ${id}?` });
  await dialog.getByText('was not placed here').waitFor();
  const options = await dialog.getByLabel('Strategy').getByRole('option').allTextContents();
  check(!options.includes('EXTERNAL'), `it can be claimed for ${options}`);
  await dialog.getByLabel('Strategy').selectOption('TREND');
  await shoot('story-claim');
  await dialog.getByRole('button', { name: 'Claim' }).click();
  await page.getByText(`Order ${id} belongs to TREND`).first().waitFor();
  await grid(page, 'Open orders').locator('.tag').first().waitFor({ state: 'detached' });
  const orders = await server.call('GET', '/rest/execution/order');
  const trend = (await server.call('GET', '/rest/strategy')).find(({ name }) => name === 'TREND').id;
  check(orders.find(({ intId }) => intId === id).strategyId === trend, 'the server has it elsewhere');
}

export default [{ name: 'an order that was not placed here is marked, and claimed for a strategy', settings: QUIET, run: claims }];
