/**
 * The short light on a price that moved. A class that comes and goes costs two paints; a CSS animation would cost one
 * in every frame, for every cell that moves.
 */

export const FLASH_MS = 350;
const SWEEP_MS = 100;

interface Lit {
  element: HTMLElement;
  until: number;
}

let lit: Lit[] = [];
let sweeping = false;

/** Lights the element up for the direction in which its value moved; equal or unknown values don't. */
export function flash(element: HTMLElement, before: number | null | undefined, now: number | null): void {
  if (before === null || before === undefined || now === null || before === now) return;
  const up = now > before;
  element.classList.toggle('flash-up', up);
  element.classList.toggle('flash-down', !up);
  lit.push({ element, until: performance.now() + FLASH_MS });
  if (!sweeping) sweepLater();
}

function sweepLater(): void {
  sweeping = true;
  setTimeout(() => {
    sweeping = false;
    sweep(performance.now());
    if (lit.length > 0) sweepLater();
  }, SWEEP_MS);
}

/** An element that was lit again meanwhile stays lit until its last deadline. */
function sweep(now: number): void {
  const still = lit.filter((one) => one.until > now);
  const keep = new Set(still.map((one) => one.element));
  for (const { element } of lit) {
    if (!keep.has(element)) element.classList.remove('flash-up', 'flash-down');
  }
  lit = still;
}
