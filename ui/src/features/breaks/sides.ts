/** The two sides of a break, field by field. */

import type { BreakVO } from '../../wire/types';

export interface ComparedField {
  name: string;
  ours: string | null;
  theirs: string | null;
  differs: boolean;
}

/** Whether the values of a field are amounts, not ids. */
export function isAmount(name: string): boolean {
  return name !== 'order' && !name.endsWith('Id');
}

/** In the order of our side, then what only the venue has. A side that has nothing at all differs as a whole, not by field. */
export function comparedFields({ ours, theirs }: Pick<BreakVO, 'ours' | 'theirs'>): ComparedField[] {
  const names = new Set([...Object.keys(ours ?? {}), ...Object.keys(theirs ?? {})]);
  return [...names].map((name) => {
    const [mine, other] = [ours?.[name] ?? null, theirs?.[name] ?? null];
    return { name, ours: mine, theirs: other, differs: ours !== null && theirs !== null && !isSame(mine, other) };
  });
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** `1.50` and `1.5` are the same amount, `007` and `7` are different ids. */
function isSame(one: string | null, other: string | null): boolean {
  return one === other || (one !== null && other !== null && shortest(one) === shortest(other));
}

function shortest(text: string): string {
  return DECIMAL.test(text) && text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
