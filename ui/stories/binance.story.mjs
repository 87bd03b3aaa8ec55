/** Binance spot at the venue lab: symbols that are not ASCII or long trade on the screen, and the venue's own figures stand beside ours. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BINARY, onEnd } from './harness.mjs';
import { fillTicket, grid, row, show, ticket } from './locators.mjs';
import { check } from './person.story.mjs';

const CHINESE = '币安人生USDT';
const LONG = '1000CHEEMSUSDT';
const ACCOUNT = 'BETA';
/** The lab's demo with one more symbol: its asset has ten characters. */
const SYMBOLS = `symbols=[
  {symbol="BTCUSDT",base="BTC",quote="USDT",tickSize="0.01",stepSize="0.00001",mid="60000",spreadTicks=2,size="0.5"},
  {symbol="ETHUSDT",base="ETH",quote="USDT",tickSize="0.01",stepSize="0.0001",mid="3000",spreadTicks=2,size="5"},
  {symbol="${CHINESE}",base="币安人生",quote="USDT",tickSize="0.0001",stepSize="0.1",mid="0.25",spreadTicks=2,size="10000"},
  {symbol="${LONG}",base="1000CHEEMS",quote="USDT",tickSize="0.000001",stepSize="1",mid="0.001234",spreadTicks=2,size="9000000"}
]`;

/** A lab with a key, and what a server needs to trade there; its reference data is what the venue lists. */
export async function startLab() {
  const folder = await mkdtemp(join(tmpdir(), 'rialto-lab-'));
  const lab = spawn(BINARY, ['venue', 'serve', '--demo', '--data-dir', join(folder, 'lab'), '--set', 'activity=off', '--set', SYMBOLS]);
  onEnd(() => lab.kill('SIGKILL'));
  const ready = await new Promise((resolve) => createInterface({ input: lab.stdout }).once('line', (line) => resolve(JSON.parse(line))));
  const keys = JSON.parse(await readFile(ready.keys, 'utf8'));
  const key = keys.find(({ account, kind }) => account === ACCOUNT && kind === 'ED25519');
  const credentials = join(folder, 'key.toml');
  await writeFile(credentials, `apiKey = "${key.apiKey}"\nprivateKey = """\n${key.privateKeyPem}"""\n`, { mode: 0o600 });
  const venue = {
    type: 'binance-spot',
    environment: 'testnet',
    account: 'Lab',
    credentials,
    trustedCertificates: join(folder, 'lab/tls/cert.pem'),
    rest: ready.binanceRest,
    wsApi: ready.binanceWsApi,
    streams: ready.binanceStreams,
  };
  const settings = [...Object.entries(venue).map(([name, value]) => `venues.LAB.${name}=${value}`), 'simulated.venues='];
  const reference = join(folder, 'reference');
  const set = settings.flatMap((setting) => ['--set', setting]);
  const written = spawn(BINARY, ['venues', 'symbols', 'LAB', '--write', reference, ...set], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  written.stderr.on('data', (chunk) => (said += chunk));
  const [code] = await once(written, 'close');
  check(code === 0, `the symbols of the lab were not written:\n${said}`);
  const end = async () => {
    lab.kill('SIGTERM');
    await once(lab, 'exit');
    await rm(folder, { recursive: true, force: true });
  };
  const further = [`reference.path=${reference}`, 'portfolio.baseCurrency=USDT', 'demo.openingCash=', 'strategies.instances='];
  const roles = ['auth.anonymousRole=admin', 'reconciliation.statementsSeconds=1', 'reconciliation.openOrdersSeconds=1'];
  return { settings: [...settings, ...further, ...roles], ready, creditBalances, end };
}

async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** What the lab holds for the account is credited here, so that both sides agree. */
async function creditBalances(server, ready) {
  const { balances } = await (await fetch(`${ready.admin}/ledger`)).json();
  for (const { asset, free, locked } of balances.filter(({ account }) => account === ACCOUNT)) {
    const price = Number(free) + Number(locked);
    await server.call('POST', '/rest/transaction', { type: 'CREDIT', price, currency: asset, accountId: 1 });
  }
}

/** Of the venue's own books, by client orders of ours. */
async function venueOrders({ ready }) {
  const { orders } = await (await fetch(`${ready.admin}/ledger`)).json();
  return orders.filter(({ account }) => account === ACCOUNT);
}

async function send(page, symbol, fields) {
  await grid(page, 'Market').getByText(symbol, { exact: true }).first().click();
  await fillTicket(page, fields);
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
}

async function trades({ server, page, shoot, stage }) {
  await until(async () => (await server.call('GET', '/rest/adapter'))[0].state === 'SUBSCRIBED');
  await creditBalances(server, stage.ready);
  await page.goto(server.url);
  const light = page.getByRole('status', { name: 'Venues' }).getByText('LAB', { exact: true });
  await light.waitFor();
  // The light comes with the session, its title with what is known of the venue.
  await until(async () => /proven against the lab, not yet against the venue/.test(await light.getAttribute('title')));
  for (const symbol of [CHINESE, LONG]) await grid(page, 'Market').getByText(symbol, { exact: true }).first().waitFor();

  // Prices of all that the account holds are here once an order would be accepted.
  await send(page, CHINESE, { Quantity: '100', 'Limit price': '0.26' });
  await send(page, LONG, { Quantity: '20000', 'Limit price': '0.0013' });
  await show(page, 'Positions');
  await row(page, 'Positions', CHINESE, 'Long').first().waitFor();
  await row(page, 'Positions', LONG, 'Long').first().waitFor();
  check((await venueOrders(stage)).every(({ status }) => status === 'FILLED'), 'the venue has not filled both');

  // One that rests is locked there.
  await send(page, LONG, { Quantity: '50000', 'Limit price': '0.001' });
  await show(page, 'Open orders');
  await row(page, 'Open orders', LONG, 'Working').first().waitFor();
  await show(page, 'Balances');
  await row(page, 'Balances', 'USDT', '50.00').first().waitFor();
  await shoot('story-binance');

  await page.getByRole('button', { name: 'Monitor', exact: true }).click();
  const adapter = row(page, 'Adapters', 'BINANCE-SPOT-LAB', 'open for orders').first();
  await adapter.waitFor();
  await row(page, 'Adapters', 'live', 'lab only').first().waitFor();
  check((await row(page, 'Adapters', 'open for orders').filter({ hasText: /ago.*ago.*ago/ }).count()) > 0, 'not every line was heard');
  await show(page, 'Breaks');
  await page.getByText('No open breaks').waitFor();
  await server.call('POST', '/rest/transaction', { type: 'CREDIT', price: 7.5, currency: 'USDT', accountId: 1 });
  await row(page, 'Breaks', 'B1').first().waitFor();
  await shoot('story-binance-break');
}

export default [{ name: 'a Chinese symbol and a long one trade at Binance spot, with balances, lines and breaks', prepare: startLab, run: trades }];
