/** Writes the licences of everything that dist/ carries into one file, which About shows: npm run licences. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const FILE = join(root, 'src/shell/licences.txt');
/** Packages of which something is in dist/; tools that only build it are not. */
const SHIPPED = [
  '@fontsource-variable/inter',
  '@stomp/stompjs',
  'ag-grid-community',
  'ag-stack',
  'clsx',
  'dockview',
  'dockview-core',
  'esm-env',
  'fancy-canvas',
  'lightweight-charts',
  'svelte',
];
const RULE = '-'.repeat(80);

export function licences() {
  return `Rialto’s screen contains:\n\n${SHIPPED.map(chapter).join('\n')}`;
}

function chapter(name) {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `${RULE}\n${name} ${version}, ${license}\n${text.replaceAll('\r', '')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FILE, licences());
