/** Lazy dialogs: their code is loaded when they are first opened. */

import type { Component } from 'svelte';

export type DialogName = 'settings' | 'help' | 'about' | 'notices';

type Shown = Component<{ onclose: () => void }>;

export const DIALOGS: Record<DialogName, () => Promise<{ default: Shown }>> = {
  settings: () => import('./SettingsDialog.svelte'),
  help: () => import('./HelpDialog.svelte'),
  about: () => import('./AboutDialog.svelte'),
  notices: () => import('./NoticeList.svelte'),
};
