/**
 * Runs every story, or those whose name contains the words of the command line; a failing one fails the run. A story that
 * failed is tried once more, as Playwright's runner does: the browser of a busy machine misses a frame now and then. Both
 * the failure and the second try are printed, and the summary counts them as flaky. Stories mostly wait, so two run at a
 * time (STORY_WORKERS): each worker has a browser of its own and takes the next story.
 */

import { readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser, leaveNothingBehind, perform, SCREENSHOTS } from './harness.mjs';

/** The longest, which at the end would keep one worker busy and the others idle. */
const FIRST = ['cluster.story.mjs', 'recovery.story.mjs'];
const WORKERS = Number(process.env.STORY_WORKERS ?? 2);

const folder = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2).join(' ');
const results = { passed: 0, failed: 0, flaky: 0 };

/** The stories that are wanted, in the order in which they begin. */
async function choose() {
  const all = (await readdir(folder)).filter((name) => name.endsWith('.story.mjs')).sort();
  const chosen = [];
  for (const file of [...FIRST, ...all.filter((name) => !FIRST.includes(name))]) {
    const { default: stories } = await import(`./${file}`);
    chosen.push(...stories.filter(({ name }) => `${file} ${name}`.includes(wanted)));
  }
  return chosen;
}

/** Whether the story ended well, and the words for it. */
async function attempt(browser, story) {
  const begun = performance.now();
  try {
    await perform(browser, story);
    return { isGood: true, told: `ok      ${story.name} (${Math.round(performance.now() - begun)} ms)` };
  } catch (error) {
    return { isGood: false, told: `FAILED  ${story.name}\n${error.stack ?? error}` };
  }
}

async function run(browser, story) {
  const tries = [await attempt(browser, story)];
  if (!tries[0].isGood) tries.push(await attempt(browser, story));
  const isGood = tries.at(-1).isGood;
  results[isGood ? 'passed' : 'failed'] += 1;
  if (isGood && tries.length > 1) results.flaky += 1;
  // At once, so that nothing of another story comes between.
  console.log(tries.map(({ told }) => told).join('\n'));
}

async function work(queue) {
  const browser = await launchBrowser();
  for (let story = queue.shift(); story !== undefined; story = queue.shift()) await run(browser, story);
  await browser.close();
}

leaveNothingBehind();
// A screenshot of an earlier run must not pass for one of this run.
await rm(SCREENSHOTS, { recursive: true, force: true });
const queue = await choose();
await Promise.all(Array.from({ length: WORKERS }, () => work(queue)));
if (results.flaky > 0) console.log(`flaky: ${results.flaky} passed only at the second try`);
console.log(`stories: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed === 0 && results.passed > 0 ? 0 : 1);
