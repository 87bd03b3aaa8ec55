/** Texts by language. English is part of the screen, another language is loaded when it is chosen. */

import { en, type Texts } from './en';

export type { Texts };

export type Language = 'en' | 'de';

const LOADERS: Record<Language, () => Promise<Texts>> = {
  en: async () => en,
  de: async () => (await import('./de')).de,
};

export const ENGLISH: Texts = en;

export function loadTexts(language: Language): Promise<Texts> {
  return LOADERS[language]();
}
