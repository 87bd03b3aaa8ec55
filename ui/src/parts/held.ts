/** A key that is held repeats itself: only the first press was meant. */

type Press = Pick<KeyboardEvent, 'key' | 'repeat' | 'preventDefault'>;

/** Else one long Enter would send an order, answer the question about it and submit the emptied form. */
export function ignoreHeldEnter(event: Press): void {
  if (event.key === 'Enter' && event.repeat) event.preventDefault();
}
