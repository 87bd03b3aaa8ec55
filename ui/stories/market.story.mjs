/** Prices on the screen, and what the grids do with them. */

import { fillTicket, grid, row, show, ticket } from './locators.mjs';
import { openScreen } from './harness.mjs';

const QUIET = ['demo.activity=off'];

async function tickMovesAPrice({ server, page, shoot }) {
  await openScreen(page, server);
  const apple = row(page, 'Market', 'AAPL').first();
  await apple.waitFor();
  const id = await apple.getAttribute('row-id');
  const bid = grid(page, 'Market').locator(`[row-id="${id}"] [col-id="bid"]`);
  const before = await bid.textContent();
  await page.waitForFunction(([cell, text]) => cell.textContent !== text, [await bid.elementHandle(), before]);
  await shoot('story-tick');
}

async function ladderFillsTheTicket({ server, page, shoot }) {
  await openScreen(page, server);
  const book = page.getByRole('region', { name: 'Order book' });
  const level = book.getByRole('group', { name: 'Bids' }).getByRole('button', { name: /^Sell @/ }).first();
  const price = (await level.getAttribute('aria-label')).match(/@ ([\d.]+)/)[1];
  await level.click();
  await page.waitForFunction(
    ([input, text]) => Number(input.value) === Number(text),
    [await ticket(page).getByLabel('Limit price').elementHandle(), price],
  );
  await fillTicket(page, { Quantity: '5' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await shoot('story-ladder');
  await page.keyboard.press('Enter');
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Short').waitFor();
}

/** The same click means the same everywhere: the ask buys, the bid sells. */
async function pricesClickAlike({ server, page }) {
  await openScreen(page, server);
  const book = page.getByRole('region', { name: 'Order book' });
  const market = (column) => grid(page, 'Market').locator(`[row-id="1"] [col-id="${column}"] .cell`);
  const level = (side, name) => book.getByRole('group', { name: side }).getByRole('button', { name }).first();
  const sends = (words) => ticket(page).getByRole('button', { name: words }).waitFor();
  await market('ask').click();
  await sends(/^Buy AAPL/);
  if (!/^Buy @ /.test(await market('ask').getAttribute('title'))) throw new Error('the ask does not say that it buys');
  await level('Bids', /^Sell @ .* bid$/).click();
  await sends(/^Sell AAPL/);
  await level('Asks', /^Buy @ .* offered$/).click();
  await sends(/^Buy AAPL/);
  await market('bid').click();
  await sends(/^Sell AAPL/);
}

/** The securities whose ticks the page has subscribed by now. */
function listenToSubscriptions(page) {
  const topics = new Set();
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      for (const [, id] of String(payload).matchAll(/destination:\/topic\/tick\.(\d+)/g)) topics.add(id);
    }),
  );
  return topics;
}

async function onlyWhatIsInSight({ server, page }) {
  const topics = listenToSubscriptions(page);
  const rateIsKnown = page.waitForResponse(/config-params/);
  await openScreen(page, server);
  await rateIsKnown;
  await row(page, 'Market', 'AAPL').first().waitFor();
  await subscribed(topics, 1);
  const pieces = await grid(page, 'Market').locator('[row-id]').all();
  const drawn = new Set(await Promise.all(pieces.map((piece) => piece.getAttribute('row-id'))));
  if (topics.size > drawn.size || drawn.size === 20) throw new Error(`${topics.size} subscribed, ${drawn.size} drawn`);
}

async function theWholeListAtAHighRate({ server, page }) {
  const topics = listenToSubscriptions(page);
  await openScreen(page, server);
  await row(page, 'Market', 'AAPL').first().waitFor();
  await subscribed(topics, 20);
}

async function subscribed(topics, count) {
  for (let tries = 0; topics.size < count; tries += 1) {
    if (tries === 100) throw new Error(`only ${topics.size} of ${count} are subscribed`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** What a price is judged by needs no scrolling on the smallest screen, and the trend is drawn. */
async function allInSight({ server, page }) {
  await openScreen(page, server);
  const market = page.getByRole('region', { name: 'Market' });
  const seen = await market.locator('.grid-root').evaluate((box) => {
    const right = box.getBoundingClientRect().right;
    const headers = [...box.querySelectorAll('.ag-header-cell')];
    return headers.filter((header) => header.getBoundingClientRect().right <= right + 1).map((header) => header.textContent.trim());
  });
  const wanted = ['Symbol', 'Bid', 'Ask', 'Last', 'Chg %', 'Trend'];
  if (seen.join() !== wanted.join()) throw new Error(`in sight are ${seen.join(', ')}`);
  await page.waitForFunction((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value > 0);
  }, await market.locator('canvas').elementHandle());
}

/** The past of the demo ends where its market begins, so the first thing that is seen is a chart and not an empty space. */
async function freshScreenHasAPast({ server, page }) {
  await openScreen(page, server);
  const bars = (size) => server.call('GET', `/rest/marketdata/bar?security=1&barSize=${size}&limit=1000`);
  for (const [size, least] of [['MIN_1', 400], ['MIN_15', 400], ['HOUR_1', 150], ['DAY_1', 7]]) {
    const { length } = await bars(size);
    if (length < least) throw new Error(`there are only ${length} bars of ${size}`);
  }
  const [tick] = await server.call('GET', '/rest/marketdata/tick?security=1');
  const { close } = (await bars('MIN_1')).at(-1);
  if (Math.abs(close / tick.bid - 1) > 0.01) throw new Error(`the past ends at ${close} and the market is at ${tick.bid}`);
  await page.getByRole('region', { name: 'Chart' }).getByText(/O\s+[\d.]+\s+H/).waitFor();
  const change = grid(page, 'Market').locator('[row-id="1"] [col-id="changePercent"]');
  await change.getByText('%').waitFor();
}

async function filterColumnsCsv({ server, page, watch }) {
  await openScreen(page, server);
  await row(page, 'Market', 'MSFT').waitFor();
  await page.getByLabel('Filter: Market').fill('symbol:AAPL');
  await row(page, 'Market', 'MSFT').waitFor({ state: 'detached' });
  await page.getByText('1 of 20 rows').waitFor();
  await page.getByRole('button', { name: 'Columns: Market' }).click();
  await page.getByRole('checkbox', { name: 'Description' }).check();
  await page.getByRole('checkbox', { name: 'Age' }).check();
  await page.keyboard.press('Escape');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as CSV: Market' }).click(),
  ]);
  const csv = await text(await download.createReadStream());
  if (!csv.includes('"Description"') || !csv.includes('"Apple Inc."')) throw new Error(`the CSV says:\n${csv}`);
  if (!csv.includes('"Age, s"') || csv.includes('"Trend"')) throw new Error(`the CSV has other columns:\n${csv}`);
  watch.allow(/ERR_ABORTED/);
  await page.reload();
  await page.getByText('1 of 20 rows').waitFor();
  await page.getByRole('button', { name: 'Columns: Market' }).click();
  if (!(await page.getByRole('checkbox', { name: 'Description' }).isChecked())) throw new Error('the column was forgotten');
}

/** By keys or by hand, what was moved or hidden stays so. */
async function columnsAreRemembered({ server, page, watch }) {
  const titles = () =>
    grid(page, 'Market')
      .locator('.ag-header-cell')
      .evaluateAll((cells) =>
        cells
          .sort((one, other) => one.getBoundingClientRect().left - other.getBoundingClientRect().left)
          .map((cell) => cell.textContent.trim()),
      );
  await openScreen(page, server);
  await page.getByRole('button', { name: 'Columns: Market' }).click();
  await page.getByRole('checkbox', { name: 'Ask sz' }).check();
  await page.getByRole('checkbox', { name: 'Bid', exact: true }).uncheck();
  await page.getByRole('button', { name: 'Move Last to the left', exact: true }).click();
  await page.keyboard.press('Escape');
  const header = (name) => grid(page, 'Market').locator('.ag-header-cell').filter({ hasText: name }).first();
  await header('Trend').dragTo(header('Ask'));
  const before = (await titles()).join();
  const isMoved = before.indexOf('Trend') < before.indexOf('Chg %') && before.includes('Ask sz') && !before.includes('Bid');
  if (!isMoved) throw new Error(`the columns are ${before}`);
  watch.allow(/ERR_ABORTED/);
  await page.reload();
  await row(page, 'Market', 'AAPL').first().waitFor();
  const after = (await titles()).join();
  if (after !== before) throw new Error(`before ${before}, after the reload ${after}`);
}

/** Also before the list of what was found is there: Tesla has the letters in its name, a future begins with them. */
async function enterTakesWhatWasTyped({ server, page }) {
  await openScreen(page, server);
  const search = ticket(page).getByRole('combobox', { name: 'Security' });
  await search.fill('es');
  await search.press('Enter');
  await ticket(page).getByText('ESH7', { exact: true }).first().waitFor();
}

/** A tape without trades says so, and a toast leaves what is pressed in the chart free. */
async function nothingIsBlankOrCovered({ server, page }) {
  await openScreen(page, server);
  await page.getByText('Trades', { exact: true }).click();
  await page.getByText('No trades yet since you looked').waitFor();
  await server.call('POST', '/rest/execution/order/market', { objectType: 'MarketOrder', securityId: 1, side: 'BUY', quantity: 1 });
  const toast = await page.getByRole('log', { name: 'Notifications' }).getByText('Bought').boundingBox();
  const intervals = await page.getByRole('region', { name: 'Chart' }).getByText('1m', { exact: true }).boundingBox();
  if (toast.y < intervals.y + intervals.height) throw new Error(`the toast is at ${toast.y}, the intervals at ${intervals.y}`);
}

/** The button that removes a row stands beside the symbol, and what it took comes back. */
async function removedByMistake({ server, page, shoot }) {
  await openScreen(page, server);
  const symbol = (id) => grid(page, 'Market').locator(`[row-id="${id}"] [col-id="symbol"]`);
  const chosen = () => ticket(page).locator('header strong').textContent();
  const order = () => grid(page, 'Market').locator('[col-id="symbol"] .cell').allTextContents();
  const before = await order();
  await symbol(6).hover();
  const overlap = await symbol(6).evaluate((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell.querySelector('.cell').lastChild);
    return range.getBoundingClientRect().right - cell.querySelector('button').getBoundingClientRect().left;
  });
  if (overlap > 0) throw new Error(`the button lies upon the symbol, by ${overlap} pixels`);
  await symbol(2).click({ position: { x: 8, y: 8 } });
  await ticket(page).getByText('MSFT', { exact: true }).first().waitFor();
  await symbol(1).hover();
  await symbol(1).getByRole('button').click();
  await symbol(1).waitFor({ state: 'detached' });
  await shoot('story-removed');
  await symbol(2).click({ position: { x: 8, y: 8 } });
  await page.keyboard.press('Delete');
  await symbol(2).waitFor({ state: 'detached' });
  await settled(page);
  if ((await chosen()) !== 'MSFT') throw new Error(`the removal chose ${await chosen()}`);
  await page.getByText('MSFT removed').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await symbol(2).waitFor();
  await settled(page);
  if ((await chosen()) !== 'MSFT') throw new Error(`the way back chose ${await chosen()}`);
  const after = await order();
  if (after.slice(0, 5).join() !== before.slice(1, 6).join()) throw new Error(`before ${before.join()}, after ${after.join()}`);
}

/** What a grid does after a change is done within two frames. */
function settled(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function text(stream) {
  let read = '';
  for await (const chunk of stream) read += chunk;
  return read;
}

/** Each row has its day change and its line; what they are held against came for all of them together. */
async function aFewCallsForAllPrices({ server, page }) {
  const asked = [];
  page.on('request', (request) => request.url().includes('/rest/marketdata/bar') && asked.push(new URL(request.url()).search));
  await openScreen(page, server);
  const change = grid(page, 'Market').locator('[row-id="1"] [col-id="changePercent"]');
  await page.waitForFunction((cell) => /\d/.test(cell.textContent), await change.elementHandle());
  const many = asked.filter((query) => query.includes(',') || query.includes('%2C'));
  if (many.length === 0 || asked.length > 15) throw new Error(`asked ${asked.length} times:\n${asked.join('\n')}`);
}

export default [
  { name: 'the prices of a whole list are read with a few calls', settings: QUIET, run: aFewCallsForAllPrices },
  { name: 'a tick moves a price', settings: ['demo.activity=busy'], run: tickMovesAPrice },
  { name: 'a click in the ladder fills the ticket', settings: QUIET, run: ladderFillsTheTicket },
  { name: 'a click on a price means the same in the market and in the ladder', settings: QUIET, run: pricesClickAlike },
  {
    name: 'at the default rate only prices in sight are subscribed',
    settings: QUIET,
    size: { width: 1280, height: 640 },
    run: onlyWhatIsInSight,
  },
  {
    name: 'at a high rate the whole list is subscribed',
    settings: [...QUIET, 'broker.maxRatePerConnection=5000'],
    size: { width: 1280, height: 640 },
    run: theWholeListAtAHighRate,
  },
  { name: 'everything of a price is in sight at 1280 pixels', size: { width: 1280, height: 800 }, run: allInSight },
  { name: 'everything of a price is in sight at 1600 pixels', size: { width: 1600, height: 1000 }, run: allInSight },
  { name: 'a fresh screen has a past', settings: ['demo.activity=busy'], run: freshScreenHasAPast },
  { name: 'Enter takes the security that was typed', settings: QUIET, run: enterTakesWhatWasTyped },
  {
    name: 'an empty tape says so and a toast covers no button',
    settings: QUIET,
    size: { width: 1600, height: 1000 },
    run: nothingIsBlankOrCovered,
  },
  { name: 'a row that was removed by mistake comes back', settings: QUIET, run: removedByMistake },
  { name: 'columns that were moved or hidden stay so', settings: QUIET, run: columnsAreRemembered },
  { name: 'filter, columns and CSV of a grid', settings: QUIET, run: filterColumnsCsv },
];
