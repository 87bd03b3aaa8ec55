import { expect, test } from 'vitest';
import { Languages, RELOAD_AFTER_MS } from '../../src/state/languages';
import { Cell } from '../../src/state/readable';
import { DEFAULT_SETTINGS } from '../../src/state/settings';
import { ENGLISH, loadTexts, type Language } from '../../src/texts';
import { settle, VirtualClock } from '../virtual';

const german = await loadTexts('de');

function languages(load: (language: Language) => Promise<typeof ENGLISH>) {
  const clock = new VirtualClock();
  const settings = new Cell({ ...DEFAULT_SETTINGS });
  const words = new Languages({ clock, settings, load });
  const choose = (language: Language) => settings.update((before) => ({ ...before, language }));
  return { clock, words, choose };
}

test('the words of before stay until the others are there', async () => {
  const { words, choose } = languages(loadTexts);
  choose('de');
  expect(words.texts.get()).toBe(ENGLISH);
  await words.whenLoaded();
  expect(words.texts.get()).toBe(german);
  choose('en');
  expect(words.texts.get()).toBe(ENGLISH);
});

test('texts that cannot be loaded are requested again, unless another language is chosen meanwhile', async () => {
  const answers = [Promise.reject(new Error('away')), Promise.resolve(german)];
  answers[0]?.catch(() => undefined);
  const { clock, words, choose } = languages(() => answers.shift() ?? Promise.reject(new Error('asked too often')));
  choose('de');
  await words.whenLoaded();
  expect(words.texts.get()).toBe(ENGLISH);
  clock.advance(RELOAD_AFTER_MS);
  await settle();
  expect(words.texts.get()).toBe(german);
});
