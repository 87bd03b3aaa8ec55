/** Costly accidents: a lost answer, a key held too long, a market that moves on while a dialog is open. */

import { fillTicket, grid, row, runOnRow, show, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';

const QUIET = ['demo.activity=off'];
const AAPL = 1;
const HELD_REPEATS = 20;

function buy(server, quantity) {
  return server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity });
}

function rest(server, order = {}) {
  const limit = { intId: 'M1', securityId: AAPL, side: 'BUY', quantity: 100, limit: 250, ...order };
  return server.call('POST', '/rest/execution/order/limit', limit);
}

async function held(server) {
  const positions = await server.call('GET', '/rest/position');
  return positions.find(({ securityId }) => securityId === AAPL)?.quantity ?? 0;
}

async function expectHeld(server, wanted) {
  const quantity = await held(server);
  if (quantity !== wanted) throw new Error(`${quantity} are held, not ${wanted}`);
}

/** The server executes the call, and its answer is lost. */
async function loseAnswers(page, path) {
  await page.route(path, async (route) => {
    await route.fetch();
    await route.abort();
  });
}

async function reducedOnceAfterSilence({ server, page, watch, shoot }) {
  await buy(server, 100);
  await openScreen(page, server);
  await show(page, 'Positions');
  watch.allow(/ERR_FAILED/);
  await loseAnswers(page, '**/rest/position/reduce/*');
  await runOnRow(page, 'Positions', 'AAPL', 'Reduce');
  await page.getByLabel('Quantity to take off').fill('30');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Reduce AAPL' });
  await dialog.getByText('Fate unknown: look at the position first, 70 now.').waitFor();
  await shoot('story-reduce-unknown');
  if (await dialog.getByRole('button', { name: 'Reduce' }).isEnabled()) throw new Error('it can be sent a second time');
  await page.getByLabel('Quantity to take off').press('Enter');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expectHeld(server, 70);
}

async function closedOnceAfterSilence({ server, page, watch }) {
  await buy(server, 100);
  await openScreen(page, server);
  await show(page, 'Positions');
  watch.allow(/ERR_FAILED/);
  await loseAnswers(page, '**/rest/position/**');
  await runOnRow(page, 'Positions', 'AAPL', 'Close');
  const dialog = page.getByRole('dialog', { name: 'Close AAPL?' });
  const close = dialog.getByRole('button', { name: 'Close', exact: true }).last();
  await close.click();
  await dialog.getByText('Fate unknown: look at the position first, 0 now.').waitFor();
  if (await close.isEnabled()) throw new Error('it can be closed a second time');
  await expectHeld(server, 0);
}

async function heldEnterAsksOnce({ server, page }) {
  await openScreen(page, server);
  const sent = [];
  page.on('request', (request) => request.url().endsWith('/order/limit') && sent.push(request.url()));
  await fillTicket(page, { Quantity: '3000', 'Limit price': '250' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.down('Enter');
  const dialog = page.getByRole('dialog', { name: 'Send this order?' });
  await dialog.waitFor();
  for (let repeat = 0; repeat < HELD_REPEATS; repeat += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await dialog.waitFor();
  if (sent.length > 0) throw new Error('a held key sent the order');
  await page.keyboard.down('Enter');
  await ticket(page).getByText('Sent').waitFor();
  for (let repeat = 0; repeat < HELD_REPEATS; repeat += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await row(page, 'Open orders', 'AAPL', '3,000', 'Working').waitFor();
  if (sent.length !== 1) throw new Error(`${sent.length} orders were sent`);
}

async function closesWhatItNames({ server, page, shoot }) {
  await buy(server, 40);
  await openScreen(page, server);
  await show(page, 'Positions');
  await runOnRow(page, 'Positions', 'AAPL', 'Close');
  const dialog = page.getByRole('dialog', { name: 'Close AAPL?' });
  const close = dialog.getByRole('button', { name: 'Close', exact: true }).last();
  await dialog.getByText('Sell 40 AAPL at market.').waitFor();
  await buy(server, 500);
  await dialog.getByText('The position changed while you were asked: 540 now.').waitFor();
  await shoot('story-close-changed');
  if (await close.isEnabled()) throw new Error('it closes what was never named');
  await dialog.getByRole('button', { name: 'Ask about that' }).click();
  await dialog.getByText('Sell 540 AAPL at market.').waitFor();
  await close.click();
  await dialog.waitFor({ state: 'detached' });
  await row(page, 'Positions', 'AAPL', 'Flat').waitFor();
  await expectHeld(server, 0);
}

async function changesOnlyThePrice({ server, page, shoot }) {
  await rest(server);
  await openScreen(page, server);
  await runOnRow(page, 'Open orders', 'AAPL', 'Change');
  const change = page.getByRole('form', { name: 'Change order M1' });
  await change.getByLabel('Limit price').fill('251');
  await server.call('POST', '/rest/execution/modify/order/limit', { intId: 'M1', quantity: 20 });
  await change.getByText('The order changed meanwhile, now: Buy 20 AAPL limit 250.').waitFor();
  await shoot('story-changed-elsewhere');
  await change.getByText('5,020.00 USD').waitFor();
  const asked = page.waitForRequest((request) => request.url().endsWith('/modify/order/limit'));
  await change.getByLabel('Limit price').press('Enter');
  const said = (await asked).postDataJSON();
  if ('quantity' in said) throw new Error(`the change of the price says ${JSON.stringify(said)}`);
  await row(page, 'Open orders', '251.00', 'Working').waitFor();
  const [{ quantity, limit }] = await server.call('GET', '/rest/execution/order');
  if (quantity !== 20 || limit !== 251) throw new Error(`the order is ${quantity} @ ${limit}`);
}

async function cancelMayHaveArrived({ server, page, watch }) {
  await rest(server);
  await openScreen(page, server);
  watch.allow(/ERR_FAILED/);
  await loseAnswers(page, '**/rest/execution/order/M1');
  await runOnRow(page, 'Open orders', 'AAPL', 'Cancel');
  await page.getByText('Whether the cancel of order M1 arrived is unknown: watch its status').first().waitFor();
  if (await page.getByText('was not cancelled').count()) throw new Error('it says what it cannot know');
  await page.getByText('No open orders').waitFor();
}

/** The column of the cell that has the focus, else what has it by name. */
function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    return element?.closest('[col-id]')?.getAttribute('col-id') ?? element?.ariaLabel ?? element?.tagName;
  });
}

async function focusComesBack({ server, page }) {
  await rest(server);
  await openScreen(page, server);
  const dialog = page.getByRole('dialog');
  const expectFocus = async (wanted) => {
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    if ((await focused(page)) !== wanted) throw new Error(`the focus is on ${await focused(page)}, not on ${wanted}`);
  };
  await row(page, 'Open orders', '250.00').locator('[col-id="symbol"]').click();
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await expectFocus('symbol');
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.click();
  await page.getByRole('button', { name: 'Settings' }).click();
  await dialog.waitFor();
  await expectFocus('Menu');
  const limit = ticket(page).getByLabel('Limit price');
  await fillTicket(page, { Quantity: '1000', 'Limit price': '250' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await limit.press('Enter');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const isBack = await limit.evaluate((input) => document.activeElement === input);
  if (!isBack) throw new Error(`the focus is on ${await focused(page)}, not in the ticket`);
}

async function frozenLooksFrozen({ server, page, watch, shoot }) {
  await rest(server);
  await buy(server, 10);
  await openScreen(page, server);
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await ticket(page).getByText('Would be accepted').waitFor();
  watch.allow(/ERR_/, /WebSocket connection/);
  server.freeze();
  await page.keyboard.press('Enter');
  await ticket(page).getByRole('button', { name: 'Sending…' }).waitFor();
  if (await ticket(page).getByText('Would be accepted').count()) throw new Error('it still says accepted');
  await page.getByRole('status', { name: 'Connection' }).getByText('Lagging').waitFor();
  await page.locator('dl.stale').waitFor();
  await grid(page, 'Open orders').locator('[col-id="status"] .cell.stale').first().waitFor();
  await shoot('story-frozen');
  server.thaw();
  await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
  await page.locator('dl.stale').waitFor({ state: 'detached' });
  await ticket(page).getByText('Sent').waitFor();
}

async function silentServerGivesNoVerdict({ server, page, watch }) {
  await openScreen(page, server);
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await ticket(page).getByText('Would be accepted').waitFor();
  watch.allow(/ERR_/, /WebSocket connection/);
  server.freeze();
  await ticket(page).getByText('The server is late or silent: not checked').waitFor();
  server.thaw();
  await ticket(page).getByText('Would be accepted').waitFor();
}

async function emptyPriceBeginsAtTheBest({ server, page, watch }) {
  watch.allow(/422/);
  await openScreen(page, server);
  const limit = ticket(page).getByLabel('Limit price');
  const ask = grid(page, 'Market').locator('[row-id="1"] [col-id="ask"] .cell');
  await ask.getByText(/\d/).waitFor();
  await limit.press('ArrowUp');
  const [typed, best] = [Number(await limit.inputValue()), Number(await ask.textContent())];
  if (typed !== best) throw new Error(`the arrow gave ${typed}, the best price is ${best}`);
  for (const price of ['-1', '0']) {
    await fillTicket(page, { Quantity: '10', 'Limit price': price });
    await ticket(page).getByText('Would be refused').waitFor();
    if (await ticket(page).getByText('USD').count()) throw new Error(`a limit of ${price} has a notional or a fee`);
    await fillTicket(page, { 'Limit price': '250' });
    await ticket(page).getByText('Would be accepted').waitFor();
  }
}

export default [
  { name: 'a reduction whose answer is lost is not sent twice', settings: QUIET, run: reducedOnceAfterSilence },
  { name: 'nor is a position closed twice', settings: QUIET, run: closedOnceAfterSilence },
  { name: 'a held Enter asks once and sends once', settings: QUIET, run: heldEnterAsksOnce },
  { name: 'closing sells what the question names', settings: QUIET, run: closesWhatItNames },
  { name: 'a change of the price leaves a quantity that others changed', settings: QUIET, run: changesOnlyThePrice },
  { name: 'a cancel whose answer is lost may have arrived', settings: QUIET, run: cancelMayHaveArrived },
  { name: 'dialogs give the focus back', settings: QUIET, run: focusComesBack },
  { name: 'a server that hangs does not look alive while an order is sent', settings: QUIET, run: frozenLooksFrozen },
  { name: 'a verdict is withdrawn while the server is silent', settings: QUIET, run: silentServerGivesNoVerdict },
  { name: 'an empty price begins at the best one, and what is no price is worth nothing', settings: QUIET, run: emptyPriceBeginsAtTheBest },
];
