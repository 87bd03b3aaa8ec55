/** Held keys: a key that is held down repeats itself, and only its first press counts. */

type Press = Pick<KeyboardEvent, 'key' | 'repeat' | 'preventDefault'>;

/** Otherwise one long Enter would send an order, confirm it and submit the emptied form. */
export function ignoreHeldEnter(event: Press): void {
  if (event.key === 'Enter' && event.repeat) event.preventDefault();
}
