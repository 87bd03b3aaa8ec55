/** axe-core finds nothing to complain about, on any page, in either theme, in any dialog. */

import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { openScreen } from './harness.mjs';
import { show } from './locators.mjs';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const EVERYTHING = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] };
/** Another theme has other colours; all else is the same. */
const COLOURS = { type: 'rule', values: ['color-contrast'] };
const THEMES = [
  { theme: 'dark', rules: EVERYTHING },
  { theme: 'light', rules: COLOURS },
];

const EXAMINATIONS = 5;

/** The script is put in by the browser's own tools, which the page's policy does not bind. */
async function violationsOf(page, rules) {
  return page.evaluate(async (runOnly) => {
    const result = await window.axe.run(document, { runOnly, resultTypes: ['violations'] });
    const shown = (node) => `${node.target} ${node.failureSummary}`;
    return result.violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.slice(0, 4).map(shown) }));
  }, rules);
}

/**
 * A barrier is what stays: the grids write the names of columns that come into sight some frames after the columns
 * themselves, and on a busy machine that is a second.
 */
async function examine(page, where, rules) {
  await page.evaluate(AXE);
  let violations = [];
  for (let examination = 0; examination < EXAMINATIONS; examination += 1) {
    violations = await violationsOf(page, rules);
    if (violations.length === 0) return;
    await page.waitForTimeout(1000);
  }
  throw new Error(`${where}: ${JSON.stringify(violations, null, 2)}`);
}

async function busyScreen({ server, page }, theme) {
  await server.call('POST', '/rest/execution/order/market', { securityId: 1, side: 'BUY', quantity: 100 });
  await server.call('POST', '/rest/execution/order/limit', { securityId: 1, side: 'BUY', quantity: 10, limit: 250 });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await openScreen(page, server);
}

export default THEMES.flatMap(({ theme, rules }) => [
  {
    name: `no page has a barrier, ${theme}`,
    async run(stage) {
      await busyScreen(stage, theme);
      for (const name of ['Trade', 'Monitor', 'Admin']) {
        await stage.page.getByRole('button', { name, exact: true }).click();
        await stage.page.locator('.ag-row').first().waitFor();
        await stage.page.waitForTimeout(500);
        await examine(stage.page, name, rules);
      }
    },
  },
  {
    name: `the value history has no barrier, ${theme}`,
    settings: ['portfolio.sampleSeconds=1'],
    async run(stage) {
      await busyScreen(stage, theme);
      await stage.page.getByRole('button', { name: 'Monitor', exact: true }).click();
      await show(stage.page, 'Value history');
      await stage.page.getByRole('region', { name: 'P/L calendar' }).waitFor();
      await examine(stage.page, 'Value history', rules);
    },
  },
  {
    name: `no dialog has a barrier, ${theme}`,
    async run(stage) {
      const { page } = stage;
      await busyScreen(stage, theme);
      for (const key of ['Alt+KeyH', 'Alt+Comma', 'Alt+KeyN', 'Alt+KeyK']) {
        await page.keyboard.press(key);
        await page.getByRole('dialog').waitFor();
        await examine(page, key, rules);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      await page.getByRole('button', { name: 'Menu' }).click();
      await examine(page, 'menu', rules);
      await page.getByRole('button', { name: 'About' }).click();
      await page.getByRole('dialog').waitFor();
      await examine(page, 'about', rules);
    },
  },
]);
