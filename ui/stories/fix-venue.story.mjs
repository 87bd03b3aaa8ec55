/** An order that is typed on the screen trades at a FIX venue: QuickFIX's sample program `executor`, which fills every limit order. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './cluster.story.mjs';
import { onEnd, openScreen } from './harness.mjs';
import { fillTicket, row, show, ticket } from './locators.mjs';
import { check } from './person.story.mjs';

/** Tenths of a second until the venue is open for orders, at most. */
const OPEN_WITHIN = 900;

/** The program, and a server whose venue BROKER it is. */
async function startExecutor() {
  const programs = process.env.QUICKFIX_PROGRAMS;
  check(programs !== undefined, 'QUICKFIX_PROGRAMS names the folder of executor; make setup unpacks it');
  const folder = await mkdtemp(join(tmpdir(), 'rialto-executor-'));
  const [port] = await freePorts(1);
  const file = join(folder, 'executor.cfg');
  const stores = `FileStorePath=${folder}\nFileLogPath=${folder}`;
  const always = 'StartTime=00:00:00\nEndTime=00:00:00\nNonStopSession=Y\nUseDataDictionary=N';
  const session = '[SESSION]\nBeginString=FIX.4.4\nSenderCompID=VENUE\nTargetCompID=RIALTO';
  await writeFile(file, `[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=${port}\n${stores}\n${always}\n${session}\n`);
  // It ends when its input does.
  const executor = spawn(join(programs, 'executor'), [file], { stdio: ['pipe', 'ignore', 'ignore'] });
  onEnd(() => executor.kill());
  const venue = {
    type: 'fix',
    exchange: 'RCM',
    dialect: 'quickfix-executor',
    environment: 'live',
    host: '127.0.0.1',
    port,
    tls: false,
    senderCompId: 'RIALTO',
    targetCompId: 'VENUE',
  };
  const settings = Object.entries(venue).map(([name, value]) => `venues.BROKER.${name}=${value}`);
  const end = async () => {
    executor.kill();
    await once(executor, 'exit');
    await rm(folder, { recursive: true, force: true });
  };
  return { settings: [...settings, 'demo.activity=off', 'auth.anonymousRole=admin'], end };
}

async function untilOpen(server) {
  for (let tenths = 0; tenths < OPEN_WITHIN; tenths += 1) {
    const adapters = await server.call('GET', '/rest/adapter');
    if (adapters.some(({ name, openFor }) => name === 'FIX-BROKER' && openFor === 'ORDERS')) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the venue never opened');
}

async function trades({ server, page, shoot }) {
  await untilOpen(server);
  await openScreen(page, server);
  await ticket(page).getByLabel('Account').selectOption('BROKER');
  await fillTicket(page, { Quantity: '10', 'Limit price': '250' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
  await show(page, 'Order history');
  await row(page, 'Order history', 'AAPL', '250.00', 'Filled').first().waitFor();
  await show(page, 'Positions');
  await row(page, 'Positions', 'AAPL', 'Long', '10').first().waitFor();
  await shoot('story-fix-venue');
  const [order] = await server.call('GET', '/rest/history/order');
  const { source, status, filledQuantity } = order;
  check(source === 'UI' && status === 'EXECUTED' && filledQuantity === 10, `${source} ${status} ${filledQuantity}`);
}

export default [{ name: 'an order typed on the screen is filled by a FIX venue', prepare: startExecutor, run: trades }];
