/** Breaks: a venue forgets an order, and a person sees both sides, settles the difference, or may only look. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { grid, row, show } from './locators.mjs';
import { openScreen } from './harness.mjs';
import { check } from './person.story.mjs';

const QUIET = ['demo.activity=off'];
/** What a page sees while the server is away. */
const GONE = [/ERR_/, /WebSocket/, /Failed to load/, /401/, /503/];
const PASSWORD = 'a long password';
const AAPL = 1;

/** The venue accepted orders, and no longer knows them: its ledger is lost. They end here too, so that both sides agree again. */
async function forget(server, intIds) {
  for (const intId of intIds) {
    await server.call('POST', '/rest/execution/order/limit', { intId, securityId: AAPL, side: 'BUY', quantity: 1250, limit: 250, tif: 'GTC' });
  }
  // An order that the venue has not accepted yet would be sent again.
  await until(async () => (await server.call('GET', '/rest/execution/order')).filter(({ status }) => status === 'SUBMITTED').length === intIds.length);
  await loseLedger(server);
  await until(async () => (await server.call('GET', '/rest/break?state=EXPLAINED')).length === intIds.length);
}

async function loseLedger(server) {
  await server.shutDown();
  await rm(join(server.folder, 'venues', 'SIMULATED-ALPHA.ledger'));
  await server.run();
}

async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100));
}

const detail = (page, id) => page.getByRole('region', { name: `Break ${id}` });

async function showBreaks(page) {
  await page.getByRole('button', { name: 'Monitor', exact: true }).click();
  await show(page, 'Breaks');
}

const showAll = (page) => page.getByRole('radio', { name: 'All', exact: true }).check({ force: true });

/** Both sides next to each other, and why it is settled; it may still be accepted, here or elsewhere. */
async function explainsItself({ server, page, watch, shoot }) {
  watch.allow(...GONE);
  await forget(server, ['first', 'second']);
  await openScreen(page, server);
  await showBreaks(page);
  await page.getByText('No open breaks').waitFor();
  await page.getByText(/open orders \d+ s ago/).first().waitFor();
  await shoot('story-no-breaks');
  await showAll(page);
  await grid(page, 'Breaks').getByText('B1', { exact: true }).click();
  const shown = detail(page, 'B1');
  await shown.getByText('The venue has nothing of it').waitFor();
  await shown.getByRole('row', { name: 'Quantity 1,250' }).waitFor();
  await shown.getByRole('row', { name: 'Limit 250' }).waitFor();
  await shown.getByText('both sides agree again').waitFor();
  check((await shown.getByRole('button', { name: 'Explain…' }).count()) === 0, 'it can be explained twice');
  check(await shown.getByRole('button', { name: 'Repair…' }).isDisabled(), 'nothing can be repaired');
  await shoot('story-break');
  await shown.getByRole('button', { name: 'Accept…' }).click();
  await page.keyboard.type('its disk was changed');
  await page.keyboard.press('Enter');
  await row(page, 'Breaks', 'B1', 'Accepted').first().waitFor();
  // Another client settles the other one.
  await server.call('POST', '/rest/break/B2/accept', { comment: 'by REST' });
  await row(page, 'Breaks', 'B2', 'Accepted').first().waitFor();
}

/** Cash that the venue does not have: what a repair books is said before, and afterwards the books equal the statement. */
async function isRepaired({ server, page, shoot }) {
  const dollars = async () => (await server.call('GET', '/rest/portfolio/balance?account=1')).find(({ currency }) => currency === 'USD');
  await until(async () => (await dollars()).venueTotal !== null);
  await server.call('POST', '/rest/transaction', { type: 'CREDIT', price: 7.5, currency: 'USD', accountId: 1 });
  await openScreen(page, server);
  await showBreaks(page);
  await grid(page, 'Breaks').getByText('B1', { exact: true }).click();
  const shown = detail(page, 'B1');
  await shown.getByRole('button', { name: 'Repair…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('-7.5 USD').waitFor();
  const send = dialog.getByRole('button', { name: 'Repair', exact: true });
  await send.click();
  check((await server.call('GET', '/rest/break')).length === 1, 'it was repaired without a word why');
  await dialog.getByRole('textbox').fill('typed by mistake');
  await shoot('story-break-repair');
  await send.click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('No open breaks').waitFor();
  await showAll(page);
  await row(page, 'Breaks', 'B1', 'Repaired').first().waitFor();
  await until(async () => (await dollars()).amount === (await dollars()).venueTotal);
}

async function addUser(server, name, role) {
  const word = spawn(server.binary, ['user', 'add', name, '--role', role, '--data-dir', server.folder]);
  word.stdin.end(PASSWORD);
  const [code] = await once(word, 'exit');
  check(code === 0, `no user ${name} was added`);
}

/** Who may only look sees no buttons. */
async function onlyAdminsSettle({ server, page, watch }) {
  watch.allow(...GONE);
  await forget(server, ['lost']);
  for (const role of ['trader', 'admin']) await addUser(server, role, role);
  // A running server sees new users within a second.
  await page.waitForTimeout(1_500);
  for (const [role, buttons] of [['trader', 0], ['admin', 2]]) {
    await page.context().clearCookies();
    await page.goto(server.url);
    await page.getByLabel('User').fill(role);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await showBreaks(page);
    await showAll(page);
    await detail(page, 'B1').getByText('The venue has nothing of it').waitFor();
    const found = await detail(page, 'B1').getByRole('button').count();
    check(found === buttons, `${role} sees ${found} buttons`);
  }
}

export default [
  { name: 'an order that the venue forgot is a break that explains itself, and is accepted', settings: QUIET, run: explainsItself },
  { name: 'cash that the venue does not have is repaired', settings: [...QUIET, 'reconciliation.statementsSeconds=1'], run: isRepaired },
  { name: 'who may only look at a break sees no buttons', settings: QUIET, run: onlyAdminsSettle },
];
