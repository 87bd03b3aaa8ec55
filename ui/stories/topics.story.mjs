/** The page that describes the topics, which also listens to them. It has nothing of the screen in it. */

const ORDER = { intId: 'heard', securityId: 1, side: 'BUY', quantity: 1, limit: 250 };

async function place(server) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`${server.url}/rest/execution/order/limit`, { method: 'POST', headers, body: JSON.stringify(ORDER) });
  if (answer.status !== 200) throw new Error(`the order was refused: ${await answer.text()}`);
}

export default [
  {
    name: 'the page of topics shows every family and what happens on it',
    async run({ server, page, watch }) {
      await page.goto(`${server.url}/docs/topics`);
      await page.getByRole('heading', { name: '/topic/order-status.{strategyName}.{intId}' }).waitFor();
      await page.getByText('How much was traded so far').first().waitFor({ state: 'attached' });
      await page.getByRole('article').filter({ hasText: '/topic/fill.' }).getByRole('button', { name: 'Listen' }).click();
      await page.getByText('Listening to /topic/fill.*.*').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await place(server);
      await page.getByLabel('Destination').fill('/topic/order-status.SERVER.heard');
      await page.getByLabel('From sequence').fill('0');
      await page.locator('#toggle').click();
      const messages = page.getByRole('list', { name: 'Messages, newest first' });
      await messages.getByText('"status":"SUBMITTED"').first().waitFor();
      await messages.getByText('replayed true').first().waitFor();
      await page.locator('#toggle').click();
      // The error of a topic that does not exist names the nearest topic.
      await page.getByLabel('Destination').fill('/topic/ticks.*');
      await page.getByLabel('From sequence').fill('');
      await page.locator('#toggle').click();
      await page.getByText('no topic begins with ticks; did you mean tick?').waitFor();
      if (watch.troubles.length > 0) throw new Error(watch.troubles.join('\n'));
    },
  },
];
