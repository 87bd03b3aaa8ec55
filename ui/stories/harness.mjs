/**
 * Harness of the stories: the real server on a free port with a folder of its own, and Chromium. A story fails on any
 * console error, any failed request and any answer of 400 and above that it did not announce.
 */

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? 'target');
export const BINARY = process.env.RIALTO_BIN ?? join(TARGET, 'release/rialto');
/** Stories wait for what they want to see, and give up after this, in milliseconds. A busy machine is slow, not wrong. */
const PATIENCE_MS = Number(process.env.STORY_PATIENCE_MS ?? 90_000);
export const SCREENSHOTS = join(TARGET, 'ui-screenshots');

/** No port that another server on this machine may have: those not needed are shut, the others are free ones. */
const PORTS = ['https.port=off', 'broker.tcp.port=off', 'broker.tls.port=off', 'broker.ws.port=off', 'fix.port=0'];
const BROWSER_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function launchBrowser() {
  const executablePath = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, headless: true, args: BROWSER_FLAGS });
}

/** Servers that run now: whatever ends this process ends them too. */
const running = new Set();
const lastSteps = new Set();

/** Another program that must not outlive this process. */
export function onEnd(step) {
  lastSteps.add(step);
}

export function leaveNothingBehind() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  process.once('exit', () => {
    for (const step of lastSteps) step();
    for (const server of running) {
      server.process.kill('SIGKILL');
      rmSync(server.folder, { recursive: true, force: true });
    }
  });
}

/** A server in a folder of its own. */
/** 2026-11-16 12:00 UTC, a Monday: every exchange of the demo is open, which is not so around midnight. */
export const NOON = Date.UTC(2026, 10, 16, 12);

/** The setting by which a server that starts now begins at that instant. */
export const clockAt = (instant) => `clock.offset=${Math.round((instant - Date.now()) / 1000)}`;

export class Server {
  /**
   * @param {string[]} settings `key=value`
   * @param {{ arguments?: string[], port?: number }} further further arguments of `serve`, and a port that others know already
   */
  static async start(settings = [], further = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'rialto-story-'));
    const server = new Server(folder, settings, further.arguments);
    await server.run(`http.port=${further.port ?? 0}`);
    return server;
  }

  constructor(folder, settings, further = []) {
    this.binary = BINARY;
    this.folder = folder;
    this.settings = settings;
    this.arguments = further;
  }

  /** Starts on the folder as it is; the port is kept, so that a page finds the server again. */
  async run(port = `http.port=${new URL(this.url).port}`) {
    const set = [port, ...PORTS, ...this.settings].flatMap((setting) => ['--set', setting]);
    const screen = process.env.RIALTO_UI_DIR ? ['--ui-dir', process.env.RIALTO_UI_DIR] : [];
    const process_ = spawn(BINARY, ['serve', '--data-dir', this.folder, ...this.arguments, ...set, ...screen]);
    this.log = '';
    process_.stderr.on('data', (chunk) => (this.log += chunk));
    this.ended = new Promise((resolve) => process_.once('exit', resolve));
    this.process = process_;
    running.add(this);
    const ready = await this.firstLine();
    this.url = ready.http;
    this.ready = ready;
  }

  firstLine() {
    const lines = createInterface({ input: this.process.stdout });
    const failed = this.ended.then((code) => {
      throw new Error(`the server ended with ${code}:\n${this.log}`);
    });
    return Promise.race([new Promise((resolve) => lines.once('line', (line) => resolve(JSON.parse(line)))), failed]);
  }

  /** Kills the server. All tests together may do so 60 times (docs/proof.md counts them); where a crash is not the matter, use `shutDown`. */
  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** An orderly end; the folder stays, and `run` starts on it again. */
  async shutDown() {
    this.process.kill('SIGTERM');
    await this.ended;
  }

  /** Suspends the server: the sockets stay, and no call is answered. */
  freeze() {
    this.process.kill('SIGSTOP');
  }

  thaw() {
    this.process.kill('SIGCONT');
  }

  async stop() {
    this.process.kill('SIGTERM');
    this.thaw();
    await this.ended;
    running.delete(this);
    await rm(this.folder, { recursive: true, force: true });
  }

  /** A call beside the screen, as another client would make it. */
  async call(method, path, body, headers = {}) {
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const init = { method, headers: { ...json, ...headers }, body: body === undefined ? undefined : JSON.stringify(body) };
    const response = await fetch(this.url + path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
}

/** Watches a page for anything that should not happen. */
export class Watch {
  constructor(page) {
    this.troubles = [];
    // Of two pages of one user that change their settings at the same time, the later one merges and writes again.
    this.allowed = [/^answer: 412 PUT .*\/rest\/settings$/, /^console: .* status of 412 /];
    page.on('console', (message) => message.type() === 'error' && this.note(`console: ${message.text()}`));
    page.on('pageerror', (error) => this.note(`page: ${error.name} ${error.message} ${error.stack}`));
    page.on('requestfailed', (request) => {
      if (!isGivenUp(request)) this.note(`request: ${request.url()} ${request.failure()?.errorText}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) this.note(`answer: ${response.status()} ${response.request().method()} ${response.url()}`);
    });
  }

  /** From now on what matches is no trouble. */
  allow(...patterns) {
    this.allowed.push(...patterns);
  }

  note(text) {
    if (!this.allowed.some((pattern) => pattern.test(text))) this.troubles.push(text);
  }
}

/** A question about an order that changed before it was answered is given up by the page itself. */
function isGivenUp(request) {
  return request.url().includes('/rest/risk/check') && request.failure()?.errorText === 'net::ERR_ABORTED';
}

/** Opens the screen and waits until it is live and has the securities. */
export async function openScreen(page, server) {
  await page.goto(server.url);
  await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
  await page.getByRole('grid', { name: 'Market' }).getByText('AAPL').first().waitFor();
}

/**
 * Runs one story with a server and a page of its own.
 * @param {import('playwright-core').Browser} browser
 * @param {{ name: string, settings?: string[], size?: { width: number, height: number }, run: (stage: object) => Promise<void>,
 *   prepare?: () => Promise<{ settings: string[], arguments?: string[], port?: number, end: () => Promise<void> }> }} story `prepare` starts what
 *   the server needs
 */
export async function perform(browser, story) {
  const stage = await story.prepare?.();
  const server = await Server.start([...(story.settings ?? []), ...(stage?.settings ?? [])], { arguments: stage?.arguments, port: stage?.port });
  const context = await browser.newContext({
    viewport: story.size ?? { width: 1440, height: 900 },
    colorScheme: 'dark',
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const watch = new Watch(page);
  const shoot = async (name) => {
    await mkdir(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  };
  try {
    await story.run({ server, page, context, watch, shoot, stage });
    if (watch.troubles.length > 0) throw new Error(`something went wrong on the page:\n  ${watch.troubles.join('\n  ')}`);
  } catch (error) {
    await shoot(`failed-${story.name.replaceAll(/\W+/g, '-')}`).catch(() => undefined);
    // A page that broke says why something never came.
    if (watch.troubles.length > 0) error.stack += `\n  before that, on the page:\n  ${watch.troubles.join('\n  ')}`;
    throw error;
  } finally {
    await context.close();
    await server.stop();
    await stage?.end();
  }
}
