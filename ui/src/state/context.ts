/** How components come to the desk, its words and its formats: the shell provides them, every feature uses them. */

import { getContext, setContext } from 'svelte';
import type { Texts } from '../texts';
import type { Formats } from '../texts/formats';
import type { Desk, Readable } from './api';

export interface Surroundings {
  desk: Desk;
  texts: Readable<Texts>;
  formats: Readable<Formats>;
}

const SURROUNDINGS = Symbol('surroundings');

export function provide(surroundings: Surroundings): void {
  setContext(SURROUNDINGS, surroundings);
}

export function useDesk(): Desk {
  return use().desk;
}

/** `const texts = useTexts();` then `$texts.common.buy`. */
export function useTexts(): Readable<Texts> {
  return use().texts;
}

/** `const formats = useFormats();` then `$formats.money(value)`. */
export function useFormats(): Readable<Formats> {
  return use().formats;
}

function use(): Surroundings {
  return getContext<Surroundings>(SURROUNDINGS);
}
