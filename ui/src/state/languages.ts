/** Texts of the chosen language. Until they are loaded the screen keeps its current texts. */

import { ENGLISH, loadTexts, type Language, type Texts } from '../texts';
import type { Clock, Readable, Settings } from './api';
import { Cell } from './readable';

/** Texts that cannot be loaded, because the server cannot be reached, are requested again after this, in milliseconds. */
export const RELOAD_AFTER_MS = 2_000;

export interface LanguagesTools {
  clock: Pick<Clock, 'after'>;
  settings: Readable<Settings>;
  load?: (language: Language) => Promise<Texts>;
}

export class Languages {
  readonly texts = new Cell<Texts>(ENGLISH);
  private wanted: Language = 'en';
  private loading: Promise<void> = Promise.resolve();

  constructor(private readonly tools: LanguagesTools) {
    tools.settings.subscribe(({ language }) => this.choose(language));
  }

  /** Resolves when the first language is loaded or has failed to load. */
  whenLoaded(): Promise<void> {
    return this.loading;
  }

  private choose(language: Language): void {
    if (language === this.wanted) return;
    this.wanted = language;
    if (language === 'en') this.texts.set(ENGLISH);
    else this.loading = this.load(language);
  }

  private async load(language: Language): Promise<void> {
    const texts = await (this.tools.load ?? loadTexts)(language).catch(() => null);
    if (this.wanted !== language) return;
    if (texts !== null) this.texts.set(texts);
    else this.tools.clock.after(RELOAD_AFTER_MS, () => this.wanted === language && void this.load(language));
  }
}
