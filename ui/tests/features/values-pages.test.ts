/** Pages of the value history. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Rest } from '../../src/wire/rest';
import { Server } from '../../src/wire/server';

const ROW = JSON.parse(readFileSync('../contract/json/ValueHistoryVO.json', 'utf8')) as object;

describe('a long value history', () => {
  it('is read to its end, and its newest rows stay', async () => {
    const total = 7_300;
    const fetch = (path: string) => {
      const after = Number(new URLSearchParams(path.split('?')[1]).get('after'));
      const page = Array.from({ length: Math.min(1_000, total - after) }, (_, place) => ({ ...ROW, sequence: after + place + 1 }));
      return Promise.resolve(new Response(JSON.stringify(page)));
    };
    const rows = await new Server(new Rest(fetch)).valueHistory('', 'sample', null);
    expect([rows.length, rows[0]!.sequence, rows.at(-1)!.sequence]).toEqual([5_000, 2_301, 7_300]);
  });
});
