/**
 * Flash of the digits that changed. A class that is set and removed costs two paints; a CSS animation would cost one in every
 * frame, for every cell that changes. A flash that has lasted long enough is removed when something else is painted anyway.
 */

export const FLASH_MS = 150;
/** Where nothing else flashes any more, flashes are removed after this, in milliseconds: a removal alone would cost a frame. */
const QUIET_MS = 300;

interface Lit {
  element: HTMLElement;
  until: number;
}

let lit: Lit[] = [];
let scheduledAt = Number.NEGATIVE_INFINITY;
let quiet: ReturnType<typeof setTimeout> | undefined;

/** Writes a number and flashes its digits from the first one that differs, in the direction in which the value moved. */
export function writeMoved(element: HTMLElement, text: string, before: number | null | undefined, now: number | null): void {
  const shown = element.textContent ?? '';
  if (shown === text) return;
  const hasMoved = before !== null && before !== undefined && now !== null && before !== now;
  const from = hasMoved ? sameUpTo(shown, text) : text.length;
  const { still, moved, mark } = partsOf(element);
  write(still, text.slice(0, from));
  write(moved, text.slice(from));
  setClass(mark, !hasMoved ? '' : now > before ? 'flash-up' : 'flash-down');
  if (hasMoved) light(mark);
}

/** The same two text nodes for the lifetime of the cell: new elements would make the browser sort its layers again. */
function partsOf(element: HTMLElement): { still: Text; moved: Text; mark: HTMLElement } {
  const [still, mark] = element.childNodes;
  if (still instanceof Text && mark instanceof HTMLElement && mark.firstChild instanceof Text) return { still, mark, moved: mark.firstChild };
  const made = { still: new Text(''), mark: document.createElement('span'), moved: new Text('') };
  made.mark.append(made.moved);
  element.replaceChildren(made.still, made.mark);
  return made;
}

/** Also an equal text that is written costs a layout. */
function write(node: Text, text: string): void {
  if (node.data !== text) node.data = text;
}

function setClass(mark: HTMLElement, name: string): void {
  if (mark.className !== name) mark.className = name;
}

/** The place of the first character that differs. */
export function sameUpTo(before: string, now: string): number {
  // A number of another length has moved as a whole.
  if (before.length !== now.length) return 0;
  let place = 0;
  while (place < now.length && before[place] === now[place]) place += 1;
  return place;
}

function light(element: HTMLElement): void {
  const now = performance.now();
  sweep(now);
  lit.push({ element, until: now + FLASH_MS });
  if (now - scheduledAt > FLASH_MS) sweepWhenQuiet(now);
}

/** Each flash puts it off; not with every single one, because a timer costs more than the flash. */
function sweepWhenQuiet(now: number): void {
  scheduledAt = now;
  clearTimeout(quiet);
  quiet = setTimeout(() => sweep(performance.now()), FLASH_MS + QUIET_MS);
}

/** A cell that was flashed again meanwhile stays lit until its last deadline. */
function sweep(now: number): void {
  const still = lit.filter((one) => one.until > now);
  if (still.length === lit.length) return;
  const kept = new Set(still.map((one) => one.element));
  for (const { element } of lit) if (!kept.has(element)) setClass(element, '');
  lit = still;
}
