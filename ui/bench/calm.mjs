/**
 * How much of one core the whole Trade page takes while the calm demo runs: the real server, the built screen, thread time of the
 * page's main thread by a trace.
 *
 *   npm run build && RIALTO_BIN=../target/debug/rialto node bench/calm.mjs [seconds]
 */

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { leaveNothingBehind, openScreen, Server } from '../stories/harness.mjs';
import { browserOptions } from './browser.mjs';
import { cpuSeconds } from './cpu.mjs';

process.env.RIALTO_UI_DIR ??= join(dirname(fileURLToPath(import.meta.url)), '../dist');
const WARM_UP_MS = 8_000;
const [seconds = 15] = process.argv.slice(2).map(Number);

leaveNothingBehind();
const server = await Server.start(['demo.activity=calm']);
const browser = await chromium.launch(browserOptions);
try {
  const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
  let messages = 0;
  page.on('websocket', (socket) => socket.on('framereceived', () => (messages += 1)));
  await openScreen(page, server);
  await page.waitForTimeout(WARM_UP_MS);
  messages = 0;
  await browser.startTracing(page, { categories: ['devtools.timeline', 'toplevel'] });
  await page.waitForTimeout(seconds * 1_000);
  const { script, style, layout, all } = cpuSeconds(JSON.parse((await browser.stopTracing()).toString()));
  const percent = (part) => `${((part / seconds) * 100).toFixed(1)} %`;
  console.log(`${Math.round(messages / seconds)} messages/s, of one core: script ${percent(script)}, style ${percent(style)}, layout ${percent(layout)}`);
  console.log(`whole main thread ${percent(all)}`);
} finally {
  await browser.close();
  await server.stop();
}
