/** Lines to a venue that fail apart: seen on every page, and the ticket says what is refused. */

import { fillTicket, row, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';
import { check } from './person.story.mjs';

/** The private stream is down: orders cannot be followed, so nothing is opened. */
async function withoutPrivateStream({ server, page, watch, shoot }) {
  watch.allow(/503/);
  await openScreen(page, server);
  const light = page.getByRole('status', { name: 'Venues' }).getByText('ALPHA: reduce only');
  await light.waitFor();
  const told = await light.getAttribute('title');
  check(/Trading line: .*ago/.test(told) && /Private stream: down/.test(told), `the light says ${told}`);
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await ticket(page).getByText('Would be refused').waitFor();
  await ticket(page).getByText(/line of .* is down/).waitFor();
  await shoot('story-line-down');
  await page.getByRole('button', { name: 'Monitor', exact: true }).click();
  await row(page, 'Adapters', 'SIMULATED-ALPHA', 'reduce only').first().waitFor();
  await row(page, 'Adapters', 'SIMULATED-ALPHA').filter({ hasText: /down \d+ (s|min)/ }).first().waitFor();
  await row(page, 'Adapters', 'SIMULATED-BETA', 'open for orders').first().waitFor();
  const adapter = row(page, 'Adapters', 'SIMULATED-BETA', 'simulated').first();
  await adapter.getByTitle('part of the server').waitFor();
  await shoot('story-lines');
}

export default [
  { name: 'a line that is down is told apart from the others', settings: ['simulated.faults=ALPHA:noPrivate'], run: withoutPrivateStream },
];
