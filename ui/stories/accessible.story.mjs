/** axe-core finds nothing to complain about, on any page, in either theme, in any dialog. */

import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { openDesk } from './harness.mjs';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];

/** The script is put in by the browser's own tools, which the page's policy does not bind. */
async function examine(page, where) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async (values) => {
    const result = await window.axe.run(document, { runOnly: { type: 'tag', values } });
    return result.violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.slice(0, 4).map((node) => `${node.target} ${node.failureSummary}`) }));
  }, RULES);
  if (violations.length > 0) throw new Error(`${where}: ${JSON.stringify(violations, null, 2)}`);
}

async function busyDesk({ server, page }, theme) {
  await server.call('POST', '/rest/execution/order/market', { securityId: 1, side: 'BUY', quantity: 100 });
  await server.call('POST', '/rest/execution/order/limit', { securityId: 1, side: 'BUY', quantity: 10, limit: 250 });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await openDesk(page, server);
}

export default ['dark', 'light'].flatMap((theme) => [
  {
    name: `no page has a barrier, ${theme}`,
    async run(stage) {
      await busyDesk(stage, theme);
      for (const name of ['Trade', 'Monitor', 'Admin']) {
        await stage.page.getByRole('button', { name, exact: true }).click();
        await stage.page.locator('.ag-row').first().waitFor();
        await stage.page.waitForTimeout(500);
        await examine(stage.page, name);
      }
    },
  },
  {
    name: `no dialog has a barrier, ${theme}`,
    async run(stage) {
      const { page } = stage;
      await busyDesk(stage, theme);
      for (const key of ['Alt+KeyH', 'Alt+Comma', 'Alt+KeyN', 'Alt+KeyK']) {
        await page.keyboard.press(key);
        await page.getByRole('dialog').waitFor();
        await examine(page, key);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      await page.getByRole('button', { name: 'Menu' }).click();
      await examine(page, 'menu');
      await page.getByRole('button', { name: 'About' }).click();
      await page.getByRole('dialog').waitFor();
      await examine(page, 'about');
    },
  },
]);
