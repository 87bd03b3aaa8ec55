/** Join of snapshot and topic: the same state, whatever comes first and whatever fails. */

import { beforeEach, describe, expect, it } from 'vitest';
import { BUFFER_MAX, Join } from '../src/state/join';
import { text } from '../src/wire/decode';
import { WireError } from '../src/wire/error';
import type { Snapshot } from '../src/wire/rest';
import { Later, settle, VirtualClock, VirtualFeed } from './virtual';

let feed: VirtualFeed;
let clock: VirtualClock;
let questions: Later<Snapshot<string>>[];
let shown: string;
let troubles: unknown[];
let join: Join<string, string>;

beforeEach(() => {
  [feed, clock, questions, shown, troubles] = [new VirtualFeed(), new VirtualClock(), [], '', []];
  join = new Join(
    {
      topic: 'letters',
      decoder: text,
      snapshot: () => {
        const later = new Later<Snapshot<string>>();
        questions.push(later);
        return later.promise;
      },
      reset: (snapshot) => (shown = snapshot),
      apply: (letter) => (shown += letter),
    },
    { feed, clock, onTrouble: (error) => troubles.push(error) },
  );
});

async function answer(sequence: number, value: string): Promise<void> {
  questions.at(-1)?.resolve({ sequence, value });
  await settle();
}

describe('a join', () => {
  it('drops what the snapshot knows and applies what came after it', async () => {
    feed.up();
    feed.deliver('letters', 3, 'c');
    feed.deliver('letters', 4, 'd');
    await answer(3, 'abc');
    feed.deliver('letters', 5, 'e');
    expect([shown, join.freshness.get()]).toEqual(['abcde', 'live']);
  });

  it('ignores an old message that is delivered again', async () => {
    feed.up();
    await answer(3, 'abc');
    feed.deliver('letters', 2, 'b');
    feed.deliver('letters', 3, 'c');
    expect(shown).toBe('abc');
  });

  it('requests no snapshot before the server has the subscription', () => {
    expect(questions.length).toBe(0);
    feed.up();
    expect(questions.length).toBe(1);
  });

  it('closes the gap of a lost connection with a new snapshot', async () => {
    feed.up();
    await answer(1, 'a');
    feed.down();
    expect([shown, join.freshness.get()]).toEqual(['a', 'stale']);
    feed.up();
    feed.deliver('letters', 5, 'e');
    await answer(4, 'abcd');
    expect([shown, join.freshness.get()]).toEqual(['abcde', 'live']);
  });

  it('does not take an answer from before the connection was lost', async () => {
    feed.up();
    const old = questions[0];
    feed.down();
    feed.up();
    await answer(7, 'new');
    old?.resolve({ sequence: 2, value: 'old' });
    await settle();
    expect(shown).toBe('new');
  });

  it('requests the snapshot again when it failed', async () => {
    feed.up();
    questions[0]?.reject(new WireError(503, 'overloaded', 'try again'));
    await settle();
    clock.advance(2_000);
    await answer(1, 'a');
    expect([questions.length, shown, troubles]).toEqual([2, 'a', []]);
  });

  it('starts over when too many messages wait for a snapshot', async () => {
    feed.up();
    for (let sequence = 0; sequence <= BUFFER_MAX; sequence += 1) feed.deliver('letters', sequence, 'x');
    expect(questions.length).toBe(2);
    await answer(BUFFER_MAX, 'all');
    expect(shown).toBe('all');
  });

  it('reports a message that cannot be decoded, and goes on', async () => {
    feed.up();
    await answer(1, 'a');
    feed.deliver('letters', 2, 17);
    feed.deliver('letters', 3, 'c');
    expect([shown, String(troubles[0])]).toEqual(['ac', 'DecodeError: the value should be a text, and is 17']);
  });

  it('that is closed receives nothing more', async () => {
    feed.up();
    await answer(1, 'a');
    join.close();
    feed.deliver('letters', 2, 'b');
    expect([shown, feed.topics()]).toEqual(['a', []]);
  });
});
