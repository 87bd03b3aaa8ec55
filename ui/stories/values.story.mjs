/** Value history: a day of trading that ends, its curve, its results and its calendar. */

import { show } from './locators.mjs';
import { clockAt, NOON, openScreen } from './harness.mjs';

const AAPL = 1;
const DAY = 86_400;

const settings = (instant) => ['demo.activity=off', 'portfolio.sampleSeconds=1', clockAt(instant)];

/** Waits until the value history of the server has what is wanted. */
async function sampled(server, path, isWanted) {
  for (;;) {
    const rows = await server.call('GET', `/rest/portfolio/history?${path}`);
    if (isWanted(rows)) return rows;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function aDayIsOver({ server, page, shoot }) {
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 100 });
  await sampled(server, `security=${AAPL}`, (rows) => rows.length > 0);
  await server.shutDown();
  server.settings = settings(NOON + DAY * 1000);
  await server.run();
  const [first] = await sampled(server, 'period=day', (rows) => rows.length === 2);

  await openScreen(page, server);
  await page.getByRole('button', { name: 'Monitor', exact: true }).click();
  await show(page, 'Value history');
  const panel = page.getByRole('region', { name: 'Value history' });
  await panel.getByRole('img', { name: /^Equity curve from .* to .*, last/ }).waitFor();
  await panel.getByRole('img', { name: /^Drawdown from/ }).waitFor();
  const result = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: 'exceptZero' }).format(first.result);
  const rows = panel.getByRole('region', { name: 'Results by period' });
  await rows.getByRole('row').filter({ hasText: '2026-11-16' }).filter({ hasText: result }).waitFor();
  const calendar = panel.getByRole('region', { name: 'P/L calendar' });
  await calendar.getByRole('cell').filter({ hasText: '16' }).filter({ hasText: result }).waitFor();
  await calendar.getByText('November 2026').waitFor();
  await shoot('story-values');

  // By the keyboard alone: the months, then one security.
  await panel.getByRole('radio', { name: 'Months' }).focus();
  await page.keyboard.press('Space');
  await rows.getByRole('row').filter({ hasText: '2026-11' }).filter({ hasText: result }).waitFor();
  await panel.getByLabel('Value history of').selectOption({ label: 'AAPL' });
  await panel.getByRole('img', { name: /^Results added up from/ }).waitFor();
}

/** Nothing in it trades; the slider goes back to before the first booking. */
async function thePastOnASlider({ server, page, shoot }) {
  await server.call('POST', '/rest/execution/order/market', { securityId: AAPL, side: 'BUY', quantity: 100 });
  await openScreen(page, server);
  await page.getByRole('button', { name: 'Monitor', exact: true }).click();
  await show(page, 'Past state');
  const panel = page.getByRole('region', { name: 'Past state' });
  await panel.getByText('PAST', { exact: true }).waitFor();
  await panel.getByText('read-only, nothing here can be traded').waitFor();
  const slider = panel.getByRole('slider', { name: 'Point in the past' });
  const positions = panel.getByRole('table', { name: 'Positions' });
  // The newest point is two seconds old.
  while ((await positions.getByText('AAPL').count()) === 0) {
    await slider.press('ArrowLeft');
    await page.waitForTimeout(300);
    await slider.press('End');
    await page.waitForTimeout(300);
  }
  await shoot('story-past');
  if ((await panel.getByRole('button').count()) > 0) throw new Error('a past state has a button');
  await slider.press('Home');
  await positions.getByText('None').waitFor();
  await positions.getByText('AAPL').waitFor({ state: 'detached' });
}

async function inGerman({ server, page }) {
  await sampled(server, '', (rows) => rows.length > 0);
  await openScreen(page, server);
  await page.getByRole('button', { name: 'Monitor', exact: true }).click();
  await page.keyboard.press('Alt+,');
  await page.getByLabel('Language').selectOption('de');
  await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
  await page.keyboard.press('Escape');
  await show(page, 'Wertverlauf');
  await page.getByRole('img', { name: /^Vermögenskurve von/ }).waitFor();
  await page.getByRole('region', { name: 'G/V-Kalender' }).getByText('November 2026').waitFor();
}

export default [
  { name: 'a day that ended is on the curve, in the list and in the calendar', settings: settings(NOON), run: aDayIsOver },
  { name: 'the past is on a slider, and nothing in it trades', settings: ['demo.activity=off'], run: thePastOnASlider },
  { name: 'the value history in German', settings: settings(NOON), run: inGerman },
];
