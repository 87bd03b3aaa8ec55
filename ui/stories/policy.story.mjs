/** The page runs and paints by its own files alone: a strict content security policy, and nothing that runs into it. */

import { openScreen } from './harness.mjs';

/** Told on the console as an error, which fails any story. */
const reportViolations = () =>
  document.addEventListener('securitypolicyviolation', (event) =>
    console.error(`policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`),
  );

/** Use of the libraries: drag a panel, make a column wider, open dialogs. */
async function workWithEverything(page) {
  for (const name of ['Monitor', 'Admin', 'Trade']) {
    await page.getByRole('button', { name, exact: true }).click();
    await page.locator('.ag-row').first().waitFor();
  }
  await page.getByRole('tab', { name: 'Order book' }).dragTo(page.getByRole('region', { name: 'Chart' }));
  const edge = page.getByRole('grid', { name: 'Market' }).locator('.ag-header-cell[col-id="bid"] .ag-header-cell-resize');
  await edge.hover();
  await page.mouse.down();
  await page.mouse.move(600, 130, { steps: 5 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Columns: Market' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('tab', { name: 'Chart' }).click();
}

export default [
  {
    name: 'nothing on the page needs a style or script that is not ours',
    async run({ server, page, watch }) {
      await page.addInitScript(reportViolations);
      const answer = page.waitForResponse(`${server.url}/`);
      await openScreen(page, server);
      const policy = (await answer).headers()['content-security-policy'];
      if (!policy.includes("style-src 'self';") || policy.includes('unsafe')) throw new Error(`the policy is ${policy}`);
      await workWithEverything(page);
      if (watch.troubles.length > 0) throw new Error(watch.troubles.join('\n'));
      // That it is watched at all: a style from elsewhere is refused and told.
      watch.allow(/policy|Content Security Policy/);
      const told = page.waitForEvent('console', (message) => message.text().startsWith('policy: style-src-attr'));
      await page.evaluate(() => document.body.setAttribute('style', 'color: red'));
      await told;
    },
  },
];
