/** Runs every story, or those whose name contains the words of the command line; a failing one fails the run. */

import { readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser, leaveNothingBehind, perform, SCREENSHOTS } from './harness.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2).join(' ');
const files = (await readdir(folder)).filter((name) => name.endsWith('.story.mjs')).sort();

leaveNothingBehind();
// A screenshot of an earlier run must not pass for one of this run.
await rm(SCREENSHOTS, { recursive: true, force: true });
const browser = await launchBrowser();
let failed = 0;
let passed = 0;
for (const file of files) {
  const { default: stories } = await import(`./${file}`);
  for (const story of stories.filter(({ name }) => `${file} ${name}`.includes(wanted))) {
    const begun = performance.now();
    try {
      await perform(browser, story);
      passed += 1;
      console.log(`ok      ${story.name} (${Math.round(performance.now() - begun)} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${story.name}\n${error.stack ?? error}`);
    }
  }
}
await browser.close();
console.log(`stories: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
