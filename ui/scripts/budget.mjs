/** Keeps the screen small: all scripts and styles of dist/ together, as gzip sends them. */

import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const BUDGET_BYTES = 450_000;
const folder = join(resolve(dirname(fileURLToPath(import.meta.url)), '..'), 'dist/assets');

async function weigh(name) {
  const bytes = gzipSync(await readFile(join(folder, name)), { level: 9 }).length;
  return { name, bytes };
}

const names = (await readdir(folder).catch(() => [])).filter((name) => /\.(js|css)$/.test(name));
if (names.length === 0) {
  console.error('dist/ is empty: npm run build first');
  process.exit(1);
}
const weights = await Promise.all(names.map(weigh));
const total = weights.reduce((sum, { bytes }) => sum + bytes, 0);
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
for (const { name, bytes } of weights.sort((one, other) => other.bytes - one.bytes).slice(0, 5)) {
  console.log(`${kilobytes(bytes).padStart(9)}  ${name}`);
}
console.log(`scripts and styles: ${kilobytes(total)} gzip of ${kilobytes(BUDGET_BYTES)}`);
process.exit(total <= BUDGET_BYTES ? 0 : 1);
