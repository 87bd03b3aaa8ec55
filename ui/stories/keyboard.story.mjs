/** Keyboard operation of the whole screen. */

import { openScreen } from './harness.mjs';

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);

export default [
  {
    name: 'an order is bought and seen by keys alone, and cancelling all asks first',
    async run({ server, page }) {
      await openScreen(page, server);
      await page.keyboard.press('Alt+KeyB');
      await page.getByLabel('Quantity').waitFor();
      await page.getByRole('region', { name: 'Order ticket' }).getByLabel('Quantity').focus();
      await page.keyboard.type('10');
      await page.getByLabel('Limit price').focus();
      await page.keyboard.type('250');
      await page.keyboard.press('Enter');
      // The ticket takes the focus back for the next order, once this one is sent.
      await page.getByText('Sent').waitFor();
      await page.getByRole('tab', { name: 'Open orders' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('grid', { name: 'Open orders' }).getByText('250.00').waitFor();
      const orders = await server.call('GET', '/rest/execution/order');
      const order = orders.find(({ limit }) => limit === 250);
      if (order?.source !== 'UI') throw new Error(`the order came from ${order?.source}`);
      await page.keyboard.press('Alt+KeyX');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    },
  },
  {
    name: 'Escape empties the search',
    async run({ server, page }) {
      await openScreen(page, server);
      const search = page.getByRole('combobox', { name: 'Add a security' });
      await search.fill('msf');
      await page.getByRole('option', { name: 'MSFT' }).first().waitFor();
      await page.keyboard.press('Escape');
      if ((await search.inputValue()) !== '') throw new Error(`the search still says ${await search.inputValue()}`);
      await page.getByRole('option').first().waitFor({ state: 'hidden' });
    },
  },
  {
    name: 'keys lead to every page, panel, dialog and back',
    async run({ server, page, shoot }) {
      await openScreen(page, server);
      await page.keyboard.press('Alt+Digit2');
      await page.getByRole('tab', { name: 'Strategies' }).waitFor();
      await page.keyboard.press('Alt+Digit1');
      await page.getByRole('tab', { name: 'Chart' }).waitFor();
      const seen = new Set();
      for (let step = 0; step < 5; step += 1) {
        await page.keyboard.press('F6');
        seen.add(await focused(page));
      }
      if (seen.size !== 5) throw new Error(`F6 reached only ${[...seen].join(', ')}`);
      for (const [key, title, name] of [
        ['Alt+KeyH', 'Keyboard shortcuts', 'help'],
        ['Alt+Comma', 'Settings', 'settings'],
        ['Alt+KeyN', 'Notifications', 'notifications'],
        ['Alt+KeyK', 'Halt all trading?', 'kill-switch'],
      ]) {
        await page.keyboard.press(key);
        await page.getByRole('dialog', { name: title }).waitFor();
        await shoot(name);
        await page.keyboard.press('Alt+Digit2');
        await page.keyboard.press('F6');
        if (await page.getByRole('tab', { name: 'Strategies', includeHidden: true }).count()) throw new Error(`a page turned behind ${title}`);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    },
  },
  {
    name: 'a moved and closed widget stays so after a reload',
    async run({ server, page, watch }) {
      await openScreen(page, server);
      await page.getByRole('button', { name: 'Menu' }).press('Enter');
      await page.getByRole('checkbox', { name: 'Chart' }).uncheck();
      await page.getByRole('tab', { name: 'Chart' }).waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      const isKept = (document) => Object.entries(document).some(([key, layout]) => key.startsWith('layout') && !JSON.stringify(layout).includes('"chart"'));
      while (!isKept(await server.call('GET', '/rest/settings'))) await page.waitForTimeout(100);
      // Leaving a page gives up what it was still asking for.
      watch.allow(/ERR_ABORTED/);
      await page.reload();
      await page.getByRole('tab', { name: 'Market' }).waitFor();
      if (await page.getByRole('tab', { name: 'Chart' }).isVisible()) throw new Error('the chart came back');
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: 'Reset this layout' }).click();
      await page.getByRole('tab', { name: 'Chart' }).waitFor();
    },
  },
];
