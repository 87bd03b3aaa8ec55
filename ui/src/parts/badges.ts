/** Badges of states: each has a sign and a word beside its colour. */

export type Tone = 'buy' | 'sell' | 'done' | 'ok' | 'wait' | 'warn' | 'bad' | 'quiet';

const SIGNS: Record<Tone, string> = { buy: '▲', sell: '▼', done: '✓', ok: '●', wait: '◌', warn: '◐', bad: '✕', quiet: '○' };

/** Paints a badge into a cell of a grid; the same look as `Badge.svelte`. */
export function paintBadge(cell: HTMLElement, tone: Tone, word: string): void {
  const name = `${tone} ${word}`;
  if (cell.dataset['badge'] === name) return;
  cell.dataset['badge'] = name;
  cell.className = `cell badge ${tone}`;
  cell.textContent = `${SIGNS[tone]} ${word}`;
}

export function signOf(tone: Tone): string {
  return SIGNS[tone];
}
