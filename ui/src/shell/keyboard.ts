/**
 * Global keyboard shortcuts, which also work in a field: all use Alt, so that typing never trades. The physical key counts, because
 * Alt makes other characters on some keyboards. While a dialog is open, shortcuts are off.
 */

import type { Stop } from '../state/api';
import type { Texts } from '../texts';

export type ShortcutId = 'buy' | 'sell' | 'search' | 'orders' | 'positions' | 'cancelAll' | 'kill' | 'pages' | 'settings' | 'notifications' | 'help';

export interface Shortcut {
  id: ShortcutId & keyof Texts['help'];
  codes: readonly string[];
  shown: readonly string[];
}

export const SHORTCUTS: readonly Shortcut[] = [
  { id: 'buy', codes: ['KeyB'], shown: ['Alt+B'] },
  { id: 'sell', codes: ['KeyS'], shown: ['Alt+S'] },
  { id: 'search', codes: ['Slash', 'KeyQ'], shown: ['Alt+/', 'Alt+Q'] },
  { id: 'orders', codes: ['KeyO'], shown: ['Alt+O'] },
  { id: 'positions', codes: ['KeyP'], shown: ['Alt+P'] },
  { id: 'cancelAll', codes: ['KeyX'], shown: ['Alt+X'] },
  { id: 'kill', codes: ['KeyK'], shown: ['Alt+K'] },
  { id: 'pages', codes: ['Digit1', 'Digit2', 'Digit3'], shown: ['Alt+1', 'Alt+2', 'Alt+3'] },
  { id: 'settings', codes: ['Comma'], shown: ['Alt+,'] },
  { id: 'notifications', codes: ['KeyN'], shown: ['Alt+N'] },
  { id: 'help', codes: ['KeyH'], shown: ['Alt+H'] },
];

/** `place` is the index of the pressed key among the shortcut's keys. */
export type ShortcutActions = Record<ShortcutId, (place: number) => void>;

/** `onPanel` moves from panel to panel: 1 forwards, -1 back. */
export function listenToKeys(target: Window, actions: ShortcutActions, onPanel: (step: 1 | -1) => void): Stop {
  const onKey = (event: KeyboardEvent) => {
    if (target.document.querySelector('dialog[open]')) return;
    if (event.key === 'F6') {
      event.preventDefault();
      return onPanel(event.shiftKey ? -1 : 1);
    }
    if (!event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    const shortcut = SHORTCUTS.find(({ codes }) => codes.includes(event.code));
    if (!shortcut) return;
    event.preventDefault();
    actions[shortcut.id](shortcut.codes.indexOf(event.code));
  };
  target.addEventListener('keydown', onKey);
  return () => target.removeEventListener('keydown', onKey);
}
