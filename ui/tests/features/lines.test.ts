/** Lines to a venue: each with when it was last heard, or since when it is down. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { lineOf, LINES, lineState, reasonsOf } from '../../src/features/common/lines';
import { ENGLISH, loadTexts } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';
import type { AdapterVO, LineVO } from '../../src/wire/types';

const german = await loadTexts('de');
const formats = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });
const ADAPTER = JSON.parse(readFileSync('../contract/json/AdapterVO.json', 'utf8')) as AdapterVO;
const NOW = 1_794_839_400_123 + 90_000;

test('a line tells its age, which goes on counting', () => {
  const words = (after: number) => LINES.map((kind) => lineState(lineOf(ADAPTER, kind), NOW + after, ENGLISH.lines, formats).join(' '));
  expect(words(0)).toEqual(['ok 1 min ago', 'bad down 1 min', 'ok 1 min ago']);
  expect(words(60_000)).toEqual(['ok 2 min ago', 'bad down 2 min', 'ok 2 min ago']);
});

test('a line that was never heard, or that the venue has not apart, has no age', () => {
  const line: LineVO = { line: 'TRADING', up: true, since: null, lastHeard: null, reason: null };
  const word = (of: LineVO | undefined) => lineState(of, NOW, ENGLISH.lines, formats).join(' ');
  expect([word(line), word({ ...line, up: false }), word(undefined)]).toEqual(['ok up', 'bad down', 'quiet not apart']);
});

test('the reason names the line that is down', () => {
  expect([reasonsOf(ADAPTER, ENGLISH.lines), reasonsOf(ADAPTER, german.lines)]).toEqual([
    'Private stream: no pong for 60 s',
    'Privater Kanal: no pong for 60 s',
  ]);
});
