/** Login, logout, and what each role may see and do. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { row } from './locators.mjs';
import { openScreen } from './harness.mjs';

const PASSWORD = 'a long password';
/** Before the login the server answers 401, and the page expects it. */
const NOT_YET = [/401/, /WebSocket connection/];

async function addUser(server, name, role) {
  const word = spawn(server.binary, ['user', 'add', name, '--role', role, '--data-dir', server.folder]);
  word.stdin.end(PASSWORD);
  const [code] = await once(word, 'exit');
  if (code !== 0) throw new Error(`no user ${name} was added`);
}

async function logIn(page, name, password = PASSWORD) {
  await page.getByLabel('User').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

async function people({ server, page, watch, shoot }) {
  watch.allow(...NOT_YET);
  await addUser(server, 'vera', 'viewer');
  await addUser(server, 'tom', 'trader');
  await addUser(server, 'ada', 'admin');
  // A running server sees new users within a second.
  await page.waitForTimeout(1_500);
  await page.goto(server.url);
  await page.getByRole('heading', { name: 'Log in to Rialto' }).waitFor();
  await shoot('login');
}

const live = (page) => page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
const kill = (page) => page.getByRole('button', { name: 'Kill switch' });

/** What a role may not do is in sight and greyed. */
async function allows(page, name, isAllowed) {
  const button = page.getByRole('button', { name, exact: true });
  await button.first().waitFor();
  if ((await button.first().isEnabled()) !== isAllowed) throw new Error(`${name} is ${isAllowed ? 'refused' : 'allowed'}`);
}

async function logOut(page) {
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in to Rialto' }).waitFor();
  if (await page.getByText('Your session has ended').isVisible()) throw new Error('a logout must not show that the session ended');
}

const apple = (page) => row(page, 'Market', 'AAPL').first();

/** Takes AAPL out of the list, closes the chart, and sends the first steps away. */
async function arrange(page) {
  await page.getByRole('button', { name: 'Do not show again' }).click();
  await apple(page).locator('[col-id="symbol"]').click();
  await page.keyboard.press('Delete');
  await apple(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('checkbox', { name: 'Chart' }).uncheck();
  await page.getByRole('tab', { name: 'Chart' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
}

/** What of that is in sight. */
async function seen(page) {
  await row(page, 'Market', 'MSFT').first().waitFor();
  await page.getByRole('tab', { name: 'Market' }).waitFor();
  const [stock, chart, steps] = [apple(page), page.getByRole('tab', { name: 'Chart' }), page.getByRole('region', { name: 'First steps' })];
  return { apple: await stock.isVisible(), chart: await chart.isVisible(), steps: await steps.isVisible() };
}

async function finds(page, wanted) {
  const found = JSON.stringify(await seen(page));
  if (found !== JSON.stringify(wanted)) throw new Error(`in sight: ${found}, wanted: ${JSON.stringify(wanted)}`);
}

export default [
  {
    name: 'each user has the own layout in every browser, and nothing of the user before',
    async run(stage) {
      const { page, server, context, watch } = stage;
      await people(stage);
      await addUser(server, 'tim', 'trader');
      await page.waitForTimeout(1_500);
      await logIn(page, 'tom');
      await live(page);
      await page.getByRole('region', { name: 'First steps' }).waitFor();
      await arrange(page);
      // At once, before the delay after which a layout is stored.
      await logOut(page);
      await logIn(page, 'tim');
      await live(page);
      await page.getByRole('region', { name: 'First steps' }).waitFor();
      await apple(page).waitFor();
      await finds(page, { apple: true, chart: true, steps: true });
      await logOut(page);
      // Another browser: it remembers nothing.
      await page.evaluate(() => localStorage.clear());
      await context.clearCookies();
      // Leaving a page gives up what it was still asking for.
      watch.allow(/ERR_ABORTED/);
      await page.reload();
      await logIn(page, 'tom');
      await live(page);
      await finds(page, { apple: false, chart: false, steps: false });
    },
  },
  {
    name: 'a wrong password is refused in the words of the server',
    async run(stage) {
      await people(stage);
      await logIn(stage.page, 'tom', 'not the password');
      await stage.page.getByRole('alert').waitFor();
      const told = await stage.page.getByRole('alert').textContent();
      if (!/password|credentials|user/i.test(told ?? '')) throw new Error(`it said: ${told}`);
    },
  },
  {
    name: 'a viewer looks, a trader trades, an admin administers',
    async run(stage) {
      const { page } = stage;
      await people(stage);
      await logIn(page, 'vera');
      await live(page);
      if (await kill(page).isEnabled()) throw new Error('a viewer could halt trading');
      if ((await kill(page).getAttribute('title')) !== 'this needs the role trader') throw new Error('the switch does not say why');
      await allows(page, /^Buy AAPL limit/, false);
      await allows(page, 'Cancel all', false);
      await page.getByText('this needs the role trader').waitFor();
      await logOut(page);
      await logIn(page, 'tom');
      await live(page);
      if (!(await kill(page).isEnabled())) throw new Error('a trader could not halt trading');
      await allows(page, /^Buy AAPL limit/, true);
      await page.getByRole('button', { name: 'Admin', exact: true }).click();
      await allows(page, 'Change state', false);
      if (await page.getByRole('tab', { name: 'Audit' }).isVisible()) throw new Error('a trader saw the audit');
      await logOut(page);
      await logIn(page, 'ada');
      await live(page);
      await page.getByRole('button', { name: 'Admin', exact: true }).click();
      await page.getByRole('tab', { name: 'Audit' }).waitFor();
      await allows(page, 'Change state', true);
      await page.getByRole('grid', { name: 'Audit' }).getByText('done').first().waitFor();
    },
  },
  {
    name: 'a session that ends elsewhere ends here too',
    async run(stage) {
      const { server, page, context } = stage;
      await people(stage);
      await logIn(page, 'tom');
      await live(page);
      stage.watch.allow(/ERR_/);
      await context.clearCookies();
      await server.shutDown();
      await server.run();
      await page.getByRole('heading', { name: 'Log in to Rialto' }).waitFor();
      await page.getByText('Your session has ended').waitFor();
    },
  },
  {
    name: 'the first user is an admin, so that the server can be administered',
    async run({ server, page, watch, shoot }) {
      watch.allow(...NOT_YET, /ERR_/);
      await openScreen(page, server);
      await page.getByRole('button', { name: 'Admin', exact: true }).click();
      const dialog = page.getByRole('dialog');
      const roles = async () => (await dialog.getByLabel('Role').locator('option').allTextContents()).join();
      await page.getByRole('button', { name: 'Add user' }).click();
      await dialog.getByText('The first user must be an admin').waitFor();
      if ((await roles()) !== 'Admin') throw new Error(`offered are ${await roles()}`);
      await shoot('first-user');
      await dialog.getByLabel('Name').fill('ada');
      await dialog.getByLabel('Password').fill(PASSWORD);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('a login is needed from now on').waitFor();
      await logIn(page, 'ada');
      await page.getByRole('button', { name: 'Admin', exact: true }).click();
      await page.getByRole('button', { name: 'Add user' }).click();
      await dialog.getByLabel('Name').waitFor();
      if ((await roles()) !== 'Viewer,Trader,Strategy,Admin') throw new Error(`offered are ${await roles()}`);
    },
  },
  {
    name: 'a strategy that this browser remembers and the server does not have is forgotten, with one word',
    async run({ server, page, watch }) {
      watch.allow(/404/, /ERR_ABORTED/);
      await page.addInitScript(() => sessionStorage.getItem('again') ?? localStorage.setItem('rialto.local.strategy', '99'));
      await openScreen(page, server);
      const told = page.getByRole('log', { name: 'Notifications' }).getByText('All strategies are shown');
      await told.waitFor();
      const { length } = await told.all();
      const selected = await page.getByRole('combobox', { name: 'Strategy', exact: true }).first().inputValue();
      if (length !== 1 || selected !== '') throw new Error(`told ${length} times, selected is ${selected}`);
      await page.evaluate(() => sessionStorage.setItem('again', 'yes'));
      await page.reload();
      await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
      await page.getByRole('grid', { name: 'Market' }).getByText('AAPL').first().waitFor();
      await page.getByRole('button', { name: 'Notifications, 0 new' }).waitFor();
    },
  },
  {
    name: 'About leads to the licences of everything that is shipped',
    async run({ server, page }) {
      await openScreen(page, server);
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: 'About' }).click();
      const link = page.getByRole('dialog').getByRole('link', { name: 'Licences of what it is built with' });
      const answer = await fetch(new URL(await link.getAttribute('href'), server.url));
      const [type, text] = [answer.headers.get('content-type'), await answer.text()];
      if (!type.startsWith('text/plain') || !text.includes('SIL OPEN FONT LICENSE')) throw new Error(`${type}: ${text.slice(0, 200)}`);
    },
  },
  {
    name: 'without logins the screen opens at once',
    async run({ server, page }) {
      await openScreen(page, server);
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByText('no login').waitFor();
    },
  },
];
