/** Keyboard and focus of a dialog. */

import { expect, test } from 'vitest';
import { giveBack, trailOf, type Place } from '../../src/parts/focus';
import { ignoreHeldEnter } from '../../src/parts/held';

let focused: Place | null = null;

class Element implements Place {
  isConnected = true;

  constructor(
    readonly parentElement: Element | null = null,
    private readonly takesFocus = true,
  ) {}

  focus(): void {
    if (this.takesFocus) focused = this;
  }
}

test('the focus goes back to the element that had it', () => {
  const button = new Element(new Element());
  giveBack(trailOf(button), () => focused);
  expect(focused).toBe(button);
});

test('where the button of a row has gone, the nearest around it that takes the focus has it', () => {
  const cell = new Element(new Element());
  const button = new Element(new Element(cell, false));
  button.isConnected = false;
  giveBack(trailOf(button), () => focused);
  expect(focused).toBe(cell);
});

test('without an element that had the focus, none gets it', () => {
  focused = null;
  giveBack(trailOf(null), () => focused);
  expect(focused).toBeNull();
});

test.each([
  ['Enter', false, false],
  ['Enter', true, true],
  ['ArrowDown', true, false],
  ['5', true, false],
])('%s, held: %j, is ignored: %j', (key, repeat, isIgnored) => {
  let isPrevented = false;
  ignoreHeldEnter({ key, repeat, preventDefault: () => (isPrevented = true) });
  expect(isPrevented).toBe(isIgnored);
});
