/** Settings of the screen, for each user. */

import type { Settings, UserMemory, Writable } from './api';
import { Cell } from './readable';

const KEY = 'settings';

export const DEFAULT_SETTINGS: Settings = {
  theme: 'system',
  language: 'en',
  locale: '',
  timeZone: 'local',
  palette: 'classic',
  confirmFrom: 100_000,
  hideStrategyOrders: true,
  notify: { fills: true, strategyFills: false, rejects: true, errors: true },
};

const CHOICES = {
  theme: ['system', 'dark', 'light'],
  language: ['en', 'de'],
  timeZone: ['local', 'UTC'],
  palette: ['classic', 'colour-blind'],
} as const;

/** Only settings that the user has chosen are written: all others follow the browser. */
export function rememberedSettings(memory: Pick<UserMemory, 'read' | 'write' | 'watch'>, preferred: Partial<Settings> = {}): Writable<Settings> {
  const read = (stored: unknown) => understood(stored, { ...DEFAULT_SETTINGS, ...preferred });
  const settings = new Cell(read(memory.read(KEY)));
  let isRead = true;
  settings.subscribe((value) => isRead || memory.write(KEY, value));
  isRead = false;
  memory.watch(KEY, (stored) => {
    isRead = true;
    settings.set(read(stored));
    isRead = false;
  });
  return settings;
}

/** An invalid stored value, of an older version or changed by hand, is replaced by the default. */
function understood(memory: unknown, fallback: Settings): Settings {
  const stored = isKeyed(memory) ? memory : {};
  const notify = isKeyed(stored['notify']) ? stored['notify'] : {};
  const choice = <Key extends keyof typeof CHOICES>(key: Key): Settings[Key] =>
    (CHOICES[key] as readonly unknown[]).includes(stored[key]) ? (stored[key] as Settings[Key]) : fallback[key];
  const flag = (key: keyof Settings['notify']) =>
    typeof notify[key] === 'boolean' ? (notify[key] as boolean) : fallback.notify[key];
  return {
    theme: choice('theme'),
    language: choice('language'),
    locale: isLocale(stored['locale']) ? stored['locale'] : fallback.locale,
    timeZone: choice('timeZone'),
    palette: choice('palette'),
    confirmFrom: isThreshold(stored['confirmFrom']) ? stored['confirmFrom'] : fallback.confirmFrom,
    hideStrategyOrders: typeof stored['hideStrategyOrders'] === 'boolean' ? stored['hideStrategyOrders'] : fallback.hideStrategyOrders,
    notify: {
      fills: flag('fills'),
      strategyFills: flag('strategyFills'),
      rejects: flag('rejects'),
      errors: flag('errors'),
    },
  };
}

function isKeyed(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isThreshold(value: unknown): value is number | null {
  return value === null || (typeof value === 'number' && value >= 0);
}

function isLocale(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  try {
    return value === '' || Intl.getCanonicalLocales(value).length === 1;
  } catch {
    return false;
  }
}
