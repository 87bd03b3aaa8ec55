/** Svelte context with the stores, texts, formats and messages: the shell provides it, every feature uses it. */

import { getContext, setContext } from 'svelte';
import type { Texts } from '../texts';
import type { Formats } from '../texts/formats';
import type { Readable, Stores } from './api';
import type { Messages } from './messages';

export interface AppContext {
  stores: Stores;
  texts: Readable<Texts>;
  formats: Readable<Formats>;
  messages: Readable<Messages>;
}

const APP_CONTEXT = Symbol('appContext');

export function provide(appContext: AppContext): void {
  setContext(APP_CONTEXT, appContext);
}

export function useStores(): Stores {
  return use().stores;
}

/** `const texts = useTexts();` then `$texts.common.buy`. */
export function useTexts(): Readable<Texts> {
  return use().texts;
}

/** `const formats = useFormats();` then `$formats.money(value)`. */
export function useFormats(): Readable<Formats> {
  return use().formats;
}

/** `const messages = useMessages();` then `$messages.error(error)`. */
export function useMessages(): Readable<Messages> {
  return use().messages;
}

function use(): AppContext {
  return getContext<AppContext>(APP_CONTEXT);
}
