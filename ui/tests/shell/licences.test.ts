import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { licences } from '../../scripts/licences.mjs';

test('About shows the licences of the packages that are installed; npm run licences renews them', () => {
  const shown = readFileSync('src/shell/licences.txt', 'utf8');
  expect(shown).toBe(licences());
  expect(shown).toContain('SIL OPEN FONT LICENSE Version 1.1');
});
