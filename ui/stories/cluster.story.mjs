/** A cluster on the screen: a server alone shows none; a follower says that it follows, trades by way of the leader, and takes over. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLab } from './binance.story.mjs';
import { onEnd, openScreen, Server } from './harness.mjs';
import { fillTicket, grid, row, ticket } from './locators.mjs';
import { check } from './person.story.mjs';

const MEMBERS = ['a', 'b'];
const SYMBOL = 'BTCUSDT';

/** A server that is alone has no entry in the menu, no light in the header, and its REST says so. */
async function alone({ server, page, shoot }) {
  await openScreen(page, server);
  check((await server.call('GET', '/rest/cluster')).role === 'alone', 'it is no member');
  check((await page.getByRole('button', { name: /^Cluster/ }).count()) === 0, 'a server alone has no light of a cluster');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('checkbox', { name: 'Sessions' }).waitFor();
  check((await page.getByRole('checkbox', { name: 'Cluster' }).count()) === 0, 'a server alone offers no cluster');
  await shoot('story-cluster-alone');
}

/** Of another story that runs now the ports may not be open yet, so none is handed out twice. */
let nextPort = 12_000 + (process.pid % 2_000);

/** Ports below those that the system gives to connections, which nobody has now. */
export async function freePorts(count) {
  const ports = [];
  while (ports.length < count) {
    const port = nextPort++;
    const probe = createServer();
    const isFree = await new Promise((resolve) => probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)));
    if (isFree) {
      await new Promise((resolve) => probe.close(resolve));
      ports.push(port);
    }
  }
  return ports;
}

/** Three NATS servers that sync every write. */
async function startNats(folder, ports) {
  const routes = ports.slice(0, 3).map((port) => `"nats-route://127.0.0.1:${port}"`);
  const servers = await Promise.all(
    [0, 1, 2].map(async (number) => {
      const [route, client, monitor] = [ports[number], ports[3 + number], ports[6 + number]];
      const file = join(folder, `n${number}.conf`);
      const store = `{ store_dir: "${join(folder, `n${number}`)}", max_file_store: 1GB, max_memory_store: 16MB, sync_interval: always }`;
      const cluster = `{ name: story, listen: "127.0.0.1:${route}", routes: [${routes.join(', ')}], no_advertise: true }`;
      const listen = `listen: "127.0.0.1:${client}"\nhttp: "127.0.0.1:${monitor}"\nmax_payload: 17MB`;
      await writeFile(file, `server_name: n${number}\n${listen}\njetstream ${store}\ncluster ${cluster}\n`);
      const nats = spawn(process.env.NATS_SERVER_BIN, ['-c', file], { stdio: 'ignore' });
      onEnd(() => nats.kill('SIGKILL'));
      return nats;
    }),
  );
  const addresses = (from) => JSON.stringify(ports.slice(from, from + 3).map((port) => `127.0.0.1:${port}`));
  return { servers, clients: addresses(3), monitors: addresses(6) };
}

/** The venue, the log and the first member, which leads; the second one is the server of the story. */
async function startCluster() {
  check(process.env.NATS_SERVER_BIN !== undefined, 'NATS_SERVER_BIN names nats-server; make setup installs it');
  const lab = await startLab();
  const folder = await mkdtemp(join(tmpdir(), 'rialto-cluster-'));
  const ports = await freePorts(9 + MEMBERS.length);
  const nats = await startNats(folder, ports);
  const addresses = MEMBERS.map((name, place) => `${name} = "http://127.0.0.1:${ports[9 + place]}"`).join('\n');
  const argumentsOf = {};
  for (const member of MEMBERS) {
    const file = join(folder, `${member}.toml`);
    const head = `member = "${member}"\nstream = "story"\nservers = ${nats.clients}\nmonitors = ${nats.monitors}\nstandby = 0`;
    await writeFile(file, `${head}\n[members]\n${addresses}\n[timing]\ndigestMillis = 1000\n`);
    argumentsOf[member] = ['--cluster', file];
  }
  const settings = lab.settings;
  const leader = await Server.start(settings, { arguments: argumentsOf.a, port: ports[9] });
  await until(async () => (await leader.call('GET', '/rest/cluster').catch(() => null))?.gate === 'OPEN');
  const end = async () => {
    if (!leader.isGone) await leader.stop();
    for (const server of nats.servers) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
    await lab.end();
  };
  return { ...lab, settings, arguments: argumentsOf.b, port: ports[10], leader, end };
}

async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100));
}

const member = (page, name) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(`^${name}( |$)`) }) });

/** A person at a follower sees that it is one, trades, and sees how it leads when the leader has stopped. */
async function followsAndLeads({ server, page, watch, shoot, stage }) {
  // While the lead changes nobody answers.
  watch.allow(/50[234]/, /^request: /, /^console: .*(WebSocket|Failed to load)/);
  await until(async () => (await stage.leader.call('GET', '/rest/adapter'))[0].state === 'SUBSCRIBED');
  await stage.creditBalances(server, stage.ready);
  await page.goto(server.url);
  const light = page.getByRole('button', { name: /^Cluster: Follower b/ });
  await light.waitFor();
  await until(async () => /^b follows a: .*forwarded to the leader/.test(await light.getAttribute('title')));

  await light.click();
  await member(page, 'a').getByText('Leader').waitFor();
  await member(page, 'b').getByText('Follower').waitFor();
  await member(page, 'b').getByText(/at record [\d,]+, \d+ s ago/).waitFor();
  await member(page, 'a').getByRole('link', { name: stage.leader.url }).waitFor();
  await page.getByText('3 of 3 NATS servers up to date').waitFor();
  await page.getByText('orders are acknowledged').waitFor();
  await page.getByText(/first lead/).waitFor();
  await shoot('story-cluster-follower');

  await page.getByRole('button', { name: 'Trade', exact: true }).click();
  await grid(page, 'Market').getByText(SYMBOL, { exact: true }).first().click();
  await fillTicket(page, { Quantity: '0.01', 'Limit price': '50000' });
  await ticket(page).getByText('Would be accepted').waitFor();
  await page.keyboard.press('Enter');
  await row(page, 'Open orders', SYMBOL, 'Working').first().waitFor();
  check((await stage.leader.call('GET', '/rest/execution/order')).length === 1, 'the leader has the order');

  // An orderly end of the leader is a hand-over.
  await stage.leader.stop();
  stage.leader.isGone = true;
  await page.getByRole('button', { name: /^Cluster: Leader b/ }).click();
  await page.getByText(/hand-over\s+from a,\s+served [\d.]+ s after/).waitFor();
  await member(page, 'a').getByText(/\d+ s/).first().waitFor();
  await row(page, 'Open orders', SYMBOL, 'Working').first().waitFor();
  await shoot('story-cluster-leader');
}

export default [
  { name: 'a server alone shows no cluster', settings: ['demo.activity=off'], run: alone },
  { name: 'a follower says so, trades by way of its leader, and leads when it stops', prepare: startCluster, run: followsAndLeads },
];
