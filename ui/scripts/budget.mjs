/**
 * Keeps the screen small, in bytes as gzip sends them: what the page Trade loads in English, and all scripts and styles of dist/
 * together. What Trade loads follows from the files themselves: the page, what it imports, and the widgets of its layouts.
 */

import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** 1.5 kB more since every page says which member of a cluster answers, and whether orders are acknowledged. */
const START_BYTES = 439_500;
/** 4 kB more since a cluster has a widget, in two languages, and 0.2 kB since the screen knows which venues take no cancels. */
const ALL_BYTES = 493_200;
/** Those that stand in front when Trade is opened, on the largest screen. */
const WIDGETS_OF_TRADE = ['MarketGrid', 'Chart', 'OrderBook', 'OrderTicket', 'OpenOrders', 'Positions'];

const dist = join(resolve(dirname(fileURLToPath(import.meta.url)), '..'), 'dist');
const names = (await readdir(join(dist, 'assets')).catch(() => [])).filter((name) => /\.(js|css)$/.test(name));
if (names.length === 0) {
  console.error('dist/ is empty: npm run build first');
  process.exit(1);
}
const stem = (name) => name.replace(/-[\w-]{8}\.\w+$/, '');
const texts = new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(dist, 'assets', name))])));

/** Static imports; `import(…)` loads later, unless a widget of Trade asks for it. */
function importsOf(name) {
  const named = texts.get(name).toString().matchAll(/(?:from|import)\s*[`"']\.\/([\w.-]+\.js)[`"']/g);
  return [...named].map(([, file]) => file);
}

function startFiles(page) {
  const scripts = new Set();
  const visit = (name) => {
    if (scripts.has(name)) return;
    scripts.add(name);
    importsOf(name).forEach(visit);
  };
  [...page.matchAll(/assets\/([\w.-]+\.js)/g)].forEach(([, name]) => visit(name));
  names.filter((name) => name.endsWith('.js') && WIDGETS_OF_TRADE.includes(stem(name))).forEach(visit);
  const loaded = new Set([...scripts].map(stem));
  return [...scripts, ...names.filter((name) => name.endsWith('.css') && loaded.has(stem(name)))];
}

const weigh = (name) => gzipSync(texts.get(name), { level: 9 }).length;
const sum = (files) => files.reduce((total, name) => total + weigh(name), 0);
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

const start = startFiles(await readFile(join(dist, 'index.html'), 'utf8'));
const missing = WIDGETS_OF_TRADE.filter((widget) => !start.some((name) => stem(name) === widget));
if (missing.length > 0) {
  console.error(`not found in dist/: ${missing.join(', ')}`);
  process.exit(1);
}
for (const name of [...names].sort((one, other) => weigh(other) - weigh(one)).slice(0, 9)) {
  console.log(`${kilobytes(weigh(name)).padStart(9)}  ${start.includes(name) ? 'Trade' : 'later'}  ${name}`);
}
console.log(`Trade loads ${kilobytes(sum(start))} gzip of ${kilobytes(START_BYTES)}, all together are ${kilobytes(sum(names))} of ${kilobytes(ALL_BYTES)}`);
process.exit(sum(start) <= START_BYTES && sum(names) <= ALL_BYTES ? 0 : 1);
