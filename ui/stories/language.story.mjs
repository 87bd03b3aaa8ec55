/** What the server refuses is said in the language of the screen, and a form tells all its faults at once. */

import { openScreen } from './harness.mjs';

/** The text right below a field, and whether the field is marked. */
async function problemAt(scope, label) {
  const field = scope.getByLabel(label, { exact: true });
  const note = await field.getAttribute('aria-describedby');
  if ((await field.getAttribute('aria-invalid')) !== 'true' || note === null) return null;
  return scope.page().locator(`[id="${note}"]`).innerText();
}

async function expectProblems(scope, expected) {
  const entries = Object.entries(expected);
  const found = await Promise.all(entries.map(async ([label]) => [label, await problemAt(scope, label)]));
  if (JSON.stringify(found) !== JSON.stringify(entries)) throw new Error(`the form says ${JSON.stringify(found)}`);
}

async function expectFocus(scope, label) {
  const field = await scope.getByLabel(label, { exact: true }).elementHandle();
  await scope.page().waitForFunction((wanted) => document.activeElement === wanted, field);
}

async function chooseGerman(page) {
  await page.keyboard.press('Alt+,');
  await page.getByLabel('Language').selectOption('de');
  await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
  await page.getByLabel('Zahlen- und Datumsformat').selectOption('de-DE');
  await page.keyboard.press('Escape');
}

const dialog = (page) => page.getByRole('dialog');

async function administer({ server, page, watch }) {
  watch.allow(/422|400/);
  await openScreen(page, server);
  await chooseGerman(page);
  await page.getByRole('button', { name: 'Verwaltung', exact: true }).click();

  await page.getByRole('button', { name: 'Benutzer anlegen' }).click();
  await expectFocus(dialog(page), 'Name');
  await page.keyboard.type('Anna Müller');
  await dialog(page).getByLabel('Passwort').fill('kurz');
  await page.keyboard.press('Enter');
  await dialog(page).getByText('mindestens 8 Zeichen').waitFor();
  await expectProblems(dialog(page), { Name: 'muss 1 bis 64 Buchstaben, Ziffern oder . _ @ - haben', Passwort: 'muss mindestens 8 Zeichen haben' });
  await expectFocus(dialog(page), 'Name');
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Grenzen ändern' }).first().click();
  await dialog(page).getByLabel('Größte Ordermenge').fill('viel');
  await dialog(page).getByLabel('Größter Ordergegenwert').fill('1.700');
  await page.keyboard.press('Enter');
  await dialog(page).getByText('eine Zahl oder leer').waitFor();
  await expectProblems(dialog(page), {
    'Größte Ordermenge': 'eine Zahl oder leer; Anzahlen als „100 in 10000“',
    'Größter Ordergegenwert': 'Unklar: 1700 oder 1,7 schreiben',
  });
  await expectFocus(dialog(page), 'Größte Ordermenge');
  // The server finds two more, and says both.
  await dialog(page).getByLabel('Größte Ordermenge').fill('0');
  await dialog(page).getByLabel('Größter Ordergegenwert').fill('-5');
  await page.keyboard.press('Enter');
  await dialog(page).getByText('muss größer als null sein').first().waitFor();
  await expectProblems(dialog(page), { 'Größte Ordermenge': 'muss größer als null sein', 'Größter Ordergegenwert': 'muss größer als null sein' });
  await expectFocus(dialog(page), 'Größte Ordermenge');
}

async function refusedOrder({ server, page }) {
  await openScreen(page, server);
  await chooseGerman(page);
  const ticket = page.getByRole('form', { name: 'Orderticket' });
  await page.keyboard.press('Alt+B');
  await page.keyboard.type('10k');
  await ticket.getByRole('radio', { name: 'Market' }).or(ticket.getByText('Market', { exact: true })).first().click();
  await ticket.getByText(/braucht [\d.,]+ USD, auf dem Konto verfügbar sind 1\.\d{3}\.\d{3}/).waitFor();
}

export default [
  { name: 'a form in German tells all its faults at once, and the cursor goes to the first', settings: ['demo.activity=off'], run: administer },
  { name: 'an order is refused in German, with amounts as Germans write them', settings: ['demo.activity=off'], run: refusedOrder },
];
