/** Locators of the stories: they find elements by role and name, as a user does. */

/** A grid by its name, and in it the row that shows all these words. */
export const grid = (page, name) => page.getByRole('grid', { name });
export const row = (page, name, ...words) =>
  words.reduce((rows, word) => rows.filter({ hasText: word }), grid(page, name).getByRole('row'));
export const ticket = (page) => page.getByRole('form', { name: 'Order ticket' });

export async function fillTicket(page, fields) {
  for (const [label, text] of Object.entries(fields)) await ticket(page).getByLabel(label).fill(text);
}

/** Rows of a grid come in pieces where columns are pinned; all pieces of a row carry its id. */
export async function runOnRow(page, name, word, action) {
  const id = await row(page, name, word).first().getAttribute('row-id');
  await grid(page, name).locator(`[row-id="${id}"]`).getByRole('button', { name: action }).click();
}

/** Brings a widget in front that lies behind another. */
export async function show(page, name) {
  await page.getByRole('tab', { name }).first().click();
}
