/** Appearance: sets theme, palette and language on the document, for style sheets and screen readers. */

import type { Readable, Settings, Theme } from '../state/api';

export function follow(settings: Readable<Settings>, page: Document, darkness: MediaQueryList): void {
  const paint = (): void => {
    const { theme, palette, language } = settings.get();
    page.documentElement.dataset['theme'] = shown(theme, darkness.matches);
    page.documentElement.dataset['palette'] = palette;
    page.documentElement.lang = language;
  };
  settings.subscribe(paint);
  darkness.addEventListener('change', paint);
}

function shown(theme: Theme, isDark: boolean): 'dark' | 'light' {
  if (theme !== 'system') return theme;
  return isDark ? 'dark' : 'light';
}
