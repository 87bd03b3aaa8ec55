/** Composition: the wire, the application's stores on top of it, the shell around them. */

import './parts/tokens.css';
import './parts/marks.css';
import './shell/base.css';
import { mount } from 'svelte';
import App from './shell/App.svelte';
import { follow } from './shell/appearance';
import { browserClock } from './state/clock';
import { createApplication } from './state/application';
import { memoryOf } from './state/storage';
import { Rest } from './wire/rest';
import { Server } from './wire/server';
import { StompFeed } from './wire/stomp';

const UNAUTHORIZED = 401;

/** The next call of any kind shows that the session ended or that the server no longer answers. */
async function fetchWatched(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch((error: unknown) => {
    appContext.suspect();
    throw error;
  });
  if (response.status === UNAUTHORIZED && path !== '/rest/login') appContext.access.expire();
  return response;
}

const feed = new StompFeed(`${location.origin.replace(/^http/, 'ws')}/stomp`);
const appContext = createApplication({
  server: new Server(new Rest(fetchWatched)),
  feed,
  clock: browserClock,
  memory: memoryOf(localStorage),
  language: navigator.language.startsWith('de') ? 'de' : 'en',
});

follow(appContext.stores.settings, document, matchMedia('(prefers-color-scheme: dark)'));
document.addEventListener('visibilitychange', () => document.hidden || feed.hurry());
window.addEventListener('online', () => feed.hurry());
// These are the last events of a tab that is closed, or discarded on a phone.
window.addEventListener('pagehide', () => void appContext.flush());
document.addEventListener('visibilitychange', () => document.hidden && void appContext.flush());

// The screen must not start in one language and change to another.
await appContext.whenLoaded();
const target = document.getElementById('app');
if (target) mount(App, { target, props: { appContext } });
void appContext.access.identify();
