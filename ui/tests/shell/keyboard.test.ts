/** Global keyboard shortcuts, which are off while a dialog is open. */

import { beforeEach, expect, test } from 'vitest';
import { listenToKeys, SHORTCUTS, type ShortcutActions } from '../../src/shell/keyboard';

let done: string[];
let isAsking: boolean;
let press: (event: Partial<KeyboardEvent>) => void;

beforeEach(() => {
  [done, isAsking] = [[], false];
  const target = {
    document: { querySelector: (wanted: string) => (isAsking && wanted === 'dialog[open]' ? {} : null) },
    addEventListener: (_name: string, listen: (event: Partial<KeyboardEvent>) => void) => {
      press = (event) => listen({ preventDefault: () => undefined, ...event });
    },
  } as unknown as Window;
  const note = (id: string) => [id, (place: number) => done.push(`${id} ${place}`)];
  const actions = Object.fromEntries(SHORTCUTS.map(({ id }) => note(id))) as unknown as ShortcutActions;
  listenToKeys(target, actions, (step) => done.push(`panel ${step}`));
});

function pressAll(): void {
  press({ altKey: true, code: 'Digit2' });
  press({ altKey: true, code: 'Comma' });
  press({ key: 'F6', shiftKey: true });
  press({ code: 'KeyB' });
}

test('a key with Alt does its work, one without types', () => {
  pressAll();
  expect(done).toEqual(['pages 1', 'settings 0', 'panel -1']);
});

test('nothing happens behind a dialog, and all works again after it', () => {
  isAsking = true;
  pressAll();
  expect(done).toEqual([]);
  isAsking = false;
  press({ key: 'F6' });
  expect(done).toEqual(['panel 1']);
});
