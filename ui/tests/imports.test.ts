/** Import rules between the folders: the third column of README.md's table, checked on the import lines. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCE = resolve(dirname(fileURLToPath(import.meta.url)), '../src');

/** All folders may import `wire/types` and `wire/error`; only `state` may import the rest of `wire`. */
const MAY_IMPORT: Record<string, string[]> = {
  wire: [],
  texts: [],
  parts: [],
  state: ['wire', 'texts'],
  features: ['state', 'parts', 'texts', 'wire/types', 'wire/error'],
  shell: ['features', 'state', 'parts', 'texts', 'wire/types', 'wire/error'],
};

interface Import {
  from: string;
  to: string;
}

function sources(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.(ts|svelte)$/.test(entry.name) ? [path] : [];
  });
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const named = [...text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)];
  const to = (path: string) => relative(SOURCE, resolve(dirname(file), path));
  return named.map((match) => ({ from: relative(SOURCE, file), to: to(match[1] ?? '') }));
}

/** The layer is the first folder; features must not import each other, except `common`. */
function isAllowed({ from, to }: Import): boolean {
  const [layer, feature] = from.split('/');
  const [toLayer, toFeature] = to.split('/');
  if (!layer || !from.includes('/')) return true;
  if (layer === toLayer) return layer !== 'features' || feature === toFeature || toFeature === 'common';
  return (MAY_IMPORT[layer] ?? []).some((allowed) => to === allowed || to.startsWith(`${allowed}/`));
}

describe('imports', () => {
  it('go from the shell to the wire, and no other way', () => {
    const imports = sources(SOURCE).flatMap(importsOf);
    expect(imports.filter((line) => !isAllowed(line))).toEqual([]);
  });

  it('of a layer that is not in the table are refused', () => {
    expect(isAllowed({ from: 'wire/rest.ts', to: 'state/orders' })).toBe(false);
    expect(isAllowed({ from: 'features/chart/Chart.svelte', to: 'features/book/ladder' })).toBe(false);
    expect(isAllowed({ from: 'features/chart/Chart.svelte', to: 'wire/rest' })).toBe(false);
  });
});
