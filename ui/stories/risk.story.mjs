/** The kill switch: two steps, on every page, and the way back. */

import { openDesk } from './harness.mjs';

const state = (page) => page.getByRole('status', { name: 'Trading state' });

async function halt(page) {
  await page.getByRole('button', { name: 'Kill switch' }).click();
  const now = page.getByRole('button', { name: 'Halt now' });
  if (await now.isEnabled()) throw new Error('one click would have halted trading');
  await page.getByLabel('Reason').fill('a story');
  await page.getByLabel('I understand').check();
  await now.click();
}

export default [
  {
    name: 'the kill switch halts trading, cancels what is open, and trading resumes',
    async run({ server, page, shoot }) {
      await server.call('POST', '/rest/execution/order/limit', { securityId: 1, side: 'BUY', quantity: 10, limit: 250 });
      await openDesk(page, server);
      await page.getByRole('button', { name: 'Monitor' }).click();
      await halt(page);
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
      await openDesk(page, server);
      await server.call('POST', '/rest/risk/kill', { reason: 'by another hand' });
      await state(page).getByText('Halted').waitFor();
    },
  },
];
