/**
 * Runs every story, or those whose name contains the words of the command line; a failing one fails the run. A story that
 * failed is tried once more, as Playwright's runner does: the browser of a busy machine misses a frame now and then. Both
 * the failure and the second try are printed, and the summary counts them as flaky.
 */

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
const results = { passed: 0, failed: 0, flaky: 0 };

/** Whether the story ended well. */
async function attempt(story) {
  const begun = performance.now();
  try {
    await perform(browser, story);
    console.log(`ok      ${story.name} (${Math.round(performance.now() - begun)} ms)`);
    return true;
  } catch (error) {
    console.log(`FAILED  ${story.name}\n${error.stack ?? error}`);
    return false;
  }
}

async function run(story) {
  if (await attempt(story)) {
    results.passed += 1;
    return;
  }
  const passed = await attempt(story);
  results[passed ? 'passed' : 'failed'] += 1;
  if (passed) results.flaky += 1;
}

for (const file of files) {
  const { default: stories } = await import(`./${file}`);
  for (const story of stories.filter(({ name }) => `${file} ${name}`.includes(wanted))) {
    await run(story);
  }
}
await browser.close();
if (results.flaky > 0) console.log(`flaky: ${results.flaky} passed only at the second try`);
console.log(`stories: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed === 0 && results.passed > 0 ? 0 : 1);
