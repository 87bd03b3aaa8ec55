/**
 * How much of one core the market grid takes: 300 rows, 2,000 ticks a second, for ten seconds. The built screen runs
 * unchanged in Chromium; a WebSocket made in the page speaks STOMP to it, so that the whole way of a tick is measured
 * (frame, JSON, store, cell) and no server takes part of the core. Frames are held against those of a page that changes
 * one word a frame, measured before and after in the same browser: more than that the machine does not give.
 *
 *   npm run build && node bench/ticks.mjs [ticks per second] [rows] [seconds]
 */

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { browserOptions } from './browser.mjs';
import { cpuSeconds } from './cpu.mjs';
import { installFakeBroker } from './fake-broker.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const DIST = process.env.DIST ?? join(HERE, '../dist');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const WARM_UP_MS = 3_000;
const BARE_MS = 4_000;
const VIEWPORT = { width: 1920, height: 1080 };

const [rate = 2_000, rows = 300, seconds = 10] = process.argv.slice(2).map(Number);

const server = await serve(rows);
const browser = await chromium.launch(browserOptions);
try {
  const before = await bareFrameRate(browser);
  const measured = await measure(browser, `http://127.0.0.1:${server.address().port}`);
  report({ ...measured, bare: (before + (await bareFrameRate(browser))) / 2 });
} finally {
  await browser.close();
  server.close();
}

async function measure(browser, url) {
  const page = await browser.newPage({ viewport: VIEWPORT });
  page.on('pageerror', (error) => console.error(error));
  await page.addInitScript(installFakeBroker, { rate });
  await page.addInitScript(watchEverything, { rows });
  await page.goto(url);
  await page.waitForFunction(() => window.ticksSent > 0);
  await page.waitForTimeout(WARM_UP_MS);
  const before = await counters(page);
  await browser.startTracing(page, { categories: ['devtools.timeline', 'toplevel'] });
  await page.waitForTimeout(seconds * 1_000);
  const trace = JSON.parse((await browser.stopTracing()).toString());
  const after = await counters(page);
  await page.screenshot({ path: process.env.SCREENSHOT ?? join(HERE, '../../target/ui-bench.png') });
  await page.close();
  const wall = (after.at - before.at) / 1_000;
  return { wall, frames: after.frames - before.frames, ticks: after.ticks - before.ticks, ...cpuSeconds(trace) };
}

/** What this machine's Chromium paints of a page that does next to nothing. */
async function bareFrameRate(browser) {
  const page = await browser.newPage({ viewport: VIEWPORT });
  const rate = await page.evaluate(
    (ms) =>
      new Promise((resolve) => {
        const begun = performance.now();
        let frames = 0;
        const count = () => {
          document.body.textContent = String((frames += 1));
          const passed = performance.now() - begun;
          if (passed < ms) requestAnimationFrame(count);
          else resolve((frames / passed) * 1_000);
        };
        requestAnimationFrame(count);
      }),
    BARE_MS,
  );
  await page.close();
  return rate;
}

function counters(page) {
  return page.evaluate(() => ({ at: performance.now(), frames: window.framesPainted, ticks: window.ticksSent }));
}

function report({ wall, frames, ticks, bare, ...cpu }) {
  const percent = (seconds) => `${((seconds / wall) * 100).toFixed(1)} %`;
  console.log(`${Math.round(ticks / wall)} ticks/s into ${rows} rows: ${(frames / wall).toFixed(1)} frames/s`);
  console.log(`a bare page gets ${bare.toFixed(1)} frames/s here: ${Math.round((frames / wall / bare) * 100)} % of them`);
  console.log(`of one core: script ${percent(cpu.script)}, style ${percent(cpu.style)}, layout ${percent(cpu.layout)}`);
  console.log(`script and layout ${percent(cpu.script + cpu.style + cpu.layout)}, whole main thread ${percent(cpu.all)}`);
}

/** Runs in the page: the whole list is watched, and frames are counted. */
function watchEverything({ rows }) {
  const watchlist = Array.from({ length: rows }, (_, index) => index + 1);
  localStorage.setItem('rialto.local.document', JSON.stringify({ document: { watchlist }, dirty: ['watchlist'] }));
  window.framesPainted = 0;
  const count = () => {
    window.framesPainted += 1;
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
}

/** The screen's files, and as much of REST as it asks for at its start. */
async function serve(rows) {
  const answers = restAnswers(rows);
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://local').pathname;
    if (path.startsWith('/rest') || path.startsWith('/health')) {
      response.writeHead(200, { 'content-type': 'application/json', 'rialto-sequence': '1' });
      return response.end(JSON.stringify(path === '/rest/marketdata/bar' ? barsOf(request.url) : (answers[path] ?? [])));
    }
    const file = path === '/' ? '/index.html' : path;
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    return response.end(await readFile(join(DIST, file)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function restAnswers(rows) {
  const securities = Array.from({ length: rows }, (_, index) => securityOf(index + 1));
  return {
    '/rest/login': { user: null, role: 'ADMIN', strategy: null },
    '/rest/settings': {},
    '/rest/security': securities,
    '/rest/strategy': [{ id: 1, name: 'SERVER', autoActivate: true, phase: null }],
    '/rest/config-params': { 'broker.maxRatePerConnection': '5000', 'product.version': 'bench' },
    '/health/ready': { status: 'UP', checks: [] },
  };
}

/** An hour of minutes, so that every sparkline has its points. */
function barsOf(url) {
  const asked = new URL(url, 'http://local').searchParams;
  if (asked.get('barSize') !== 'MIN_1') return [];
  return asked.get('security').split(',').map(Number).flatMap(minutesOf);
}

function minutesOf(securityId) {
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  return Array.from({ length: 60 }, (_, minute) => {
    const price = 100 + Math.round(Math.sin(minute / 7) * 50) / 100;
    const prices = { open: price, high: price, low: price, close: price };
    const dateTime = now - (60 - minute) * 60_000;
    return { objectType: 'Bar', securityId, feed: 'BENCH', dateTime, barSize: 'MIN_1', ...prices, vol: 100, vwap: price };
  });
}

function securityOf(id) {
  const absent = ['isin', 'bbgid', 'ric', 'conid', 'adapterTicker', 'underlyingId', 'maxQty', 'maxPrice', 'minNotional'];
  return {
    ...Object.fromEntries(absent.map((key) => [key, null])),
    id,
    objectType: 'Stock',
    symbol: `SYM${id}`,
    description: `Security ${id}`,
    securityFamilyId: 1,
    exchangeId: 1,
    currency: 'USD',
    contractSize: 1,
    minQty: 1,
    qtyIncr: 1,
    minPrice: 0.01,
    priceIncr: 0.01,
    tradeable: true,
  };
}
