import { readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// For `npm run dev`: where a server runs that answers REST and STOMP.
const server = process.env['RIALTO_URL'] ?? 'http://127.0.0.1:9090';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

// Widgets compress better together than one by one, so there is a chunk for each page; the large libraries load beside them, after
// the first paint. What the page Trade does not need in English is not loaded with it: scripts/budget.mjs counts both.
const CHUNKS = [
  { name: 'german', test: /src\/texts\/([^/]+\.)?de\.ts/, priority: 5 },
  { name: 'base', test: /node_modules\/(svelte|esm-env|clsx)|src\/(state|texts|wire|parts\/[^/]+$)/, priority: 4 },
  { name: 'grid', test: /node_modules\/ag-/, priority: 4 },
  { name: 'chart', test: /node_modules\/(lightweight-charts|fancy-canvas)/, priority: 4 },
  { name: 'widgets', test: /src\/(features\/(book|chart|common(?!\/(ClaimOrder|OrderEvents))|market|orders|positions|ticket)|parts\/grid)/, priority: 3 },
  { name: 'past', test: /src\/features\/(balances|history|transactions|common\/(ClaimOrder|OrderEvents))/, priority: 1 },
  { name: 'values', test: /src\/features\/values/, priority: 1 },
  { name: 'administration', test: /src\/features/, priority: 0 },
];

/** The panels have our own theme, and none floats: other themes and what is for floating are two thirds of their library's styles. */
const UNUSED_OF_DOCK = ['.dockview-theme-', '.dv-debug', '.dv-resize-container', '.dv-edge-', '.dv-auto-edge-', '.dv-pane'];
const withoutForeignThemes = {
  name: 'without-foreign-themes',
  enforce: 'pre' as const,
  transform: (code: string, id: string) => (id.endsWith('/dockview.css') ? UNUSED_OF_DOCK.reduce(withoutRules, code) : undefined),
};

/** Panels neither float nor leave the window, and tabs have no menus and groups: the library registers what does that one by one. */
const UNUSED_DOCK_MODULES = /\t(FloatingGroup|PopoutWindow|EdgeGroup|TabGroupChips|ContextMenu)Module,?$/gm;
const withoutFloatingPanels = {
  name: 'without-floating-panels',
  enforce: 'pre' as const,
  transform: (code: string, id: string) => (id.includes('/dockview-core/') ? withoutModules(code) : undefined),
};

/** A module that is in no list is dropped where the bundler knows that making it has no effect. */
function withoutModules(code: string): string {
  const listed = code.replace(/const AllModules = \[[^\]]*\]/, (list) => list.replace(UNUSED_DOCK_MODULES, ''));
  return listed.replaceAll('= defineModule(', '= /* @__PURE__ */ defineModule(');
}

/** Grids have our own theme too; the library's default brings icons and controls that are nowhere in sight. */
const withoutDefaultTheme = {
  name: 'without-default-theme',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    id.includes('/ag-grid-community/') ? code.replace(/(makeThemeQuartzTreeShakeable = \(\) => createTheme\(\))[^;]*;/, '$1;') : undefined,
};

/** Rules of which every selector has this word in it; in a style sheet without nesting. */
function withoutRules(styles: string, word: string): string {
  return styles.replaceAll(/([^{}]+)\{[^{}]*\}/g, (rule, selectors: string) =>
    selectors.split(',').every((selector) => selector.includes(word)) ? '' : rule,
  );
}

export default defineConfig({
  plugins: [svelte(), withoutForeignThemes, withoutFloatingPanels, withoutDefaultTheme],
  define: { __SCREEN_VERSION__: JSON.stringify(version) },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // scripts/budget.mjs weighs all chunks together.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
  },
  server: { proxy: { '/rest': server, '/health': server, '/stomp': { target: server, ws: true, changeOrigin: true } } },
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
