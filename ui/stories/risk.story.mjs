/** Kill switch: two steps, on every page, and the resume. */

import { openScreen } from './harness.mjs';

const state = (page) => page.getByRole('status', { name: 'Trading state' });

async function halt(page, reach) {
  await page.getByRole('button', { name: 'Kill switch' }).click();
  const now = page.getByRole('button', { name: 'Halt now' });
  await page.waitForFunction(() => document.activeElement?.matches('dialog [type=checkbox]'));
  if (await now.isEnabled()) throw new Error('one click would have halted trading');
  await page.getByText(reach).waitFor();
  await page.getByLabel('Reason').fill('a story');
  await page.getByLabel('I understand').check();
  await now.click();
}

export default [
  {
    name: 'the kill switch halts trading, cancels what is open, and trading resumes',
    settings: ['demo.activity=off'],
    async run({ server, page, shoot }) {
      await server.call('POST', '/rest/execution/order/limit', { securityId: 1, side: 'BUY', quantity: 10, limit: 250 });
      await openScreen(page, server);
      await page.getByRole('button', { name: 'Monitor' }).click();
      await page.getByRole('banner').getByLabel('Strategy').selectOption({ index: 2 });
      // The selected strategy has no order; the switch reaches those of all.
      await halt(page, 'Open orders that would be cancelled: 1.');
      await state(page).getByText('Halted').waitFor();
      await page.getByText('Trading is halted').first().waitFor();
      await shoot('halted');
      const [told] = await server.call('GET', '/rest/risk/state');
      if (told.state !== 'HALTED' || told.reason !== 'a story') throw new Error(JSON.stringify(told));

      await page.getByRole('button', { name: 'Resume trading' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Resume trading' }).click();
      await state(page).filter({ hasText: /Trading$/ }).waitFor();
    },
  },
  {
    name: 'a halt from elsewhere is seen at once',
    async run({ server, page }) {
      await openScreen(page, server);
      await server.call('POST', '/rest/risk/kill', { scope: 'PLATFORM', reason: 'by another hand' });
      await state(page).getByText('Halted').waitFor();
    },
  },
];
