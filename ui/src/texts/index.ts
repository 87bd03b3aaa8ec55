/** One table of words per language. */

import { de } from './de';
import { en, type Texts } from './en';

export type { Texts };

const TABLES: Record<'en' | 'de', Texts> = { en, de };

export function textsOf(language: keyof typeof TABLES): Texts {
  return TABLES[language];
}
