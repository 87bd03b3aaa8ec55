/**
 * The newest rows of a list that the server pages upwards, `after` an id. The end is found by doubling and halving, so
 * that a long past costs a few small calls and not all of its pages.
 */

import type { Picture } from './rest';

export type Page<T> = (after: number, limit: number) => Promise<Picture<T[]>>;

export async function newestPage<T extends { id: number }>(limit: number, page: Page<T>): Promise<Picture<T[]>> {
  const first = await page(0, limit);
  const last = first.value.at(-1);
  if (!last || first.value.length < limit) return first;
  const end = await lastId(last.id, page);
  // Ids may have holes, so the page may be shorter than it could be; it is never older than it must be.
  return page(Math.max(0, end - limit), limit);
}

async function lastId<T extends { id: number }>(known: number, page: Page<T>): Promise<number> {
  const idAfter = async (after: number) => (await page(after, 1)).value.at(0)?.id;
  let [low, high] = [known, known * 2];
  for (let found = await idAfter(high); found !== undefined; found = await idAfter(high)) [low, high] = [found, found * 2];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await idAfter(middle);
    if (found === undefined) high = middle;
    else low = found;
  }
  return low;
}
