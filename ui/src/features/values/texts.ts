/** Texts of the value history. They are loaded with it, so that they do not weigh on the start of the screen. */

import type { Language } from '../../state/api';

const en = {
  scope: 'Value history of',
  platform: 'Whole platform',
  strategies: 'Strategies',
  accounts: 'Accounts',
  securities: 'Securities',
  period: 'Rows',
  sample: 'Last day',
  day: 'Days',
  week: 'Weeks',
  month: 'Months',
  value: 'Value',
  equity: 'Equity curve',
  gained: 'Results added up',
  drawdown: 'Drawdown',
  result: 'Result',
  flow: 'Paid in/out',
  exposure: 'Exposure',
  when: 'When',
  rows: 'Results by period',
  calendar: 'P/L calendar',
  earlier: 'Earlier month',
  later: 'Later month',
  total: (result: string) => `Result of the month: ${result}`,
  range: (lowest: string, highest: string, last: string) => `from ${lowest} to ${highest}, last ${last}`,
  empty: 'Nothing was sampled yet. Values are sampled every few minutes from the first booking on, and at the end of each day.',
  failed: 'The value history could not be read',
};

type ValueTexts = typeof en;

const de: ValueTexts = {
  scope: 'Wertverlauf von',
  platform: 'Ganze Plattform',
  strategies: 'Strategien',
  accounts: 'Konten',
  securities: 'Wertpapiere',
  period: 'Zeilen',
  sample: 'Letzter Tag',
  day: 'Tage',
  week: 'Wochen',
  month: 'Monate',
  value: 'Wert',
  equity: 'Vermögenskurve',
  gained: 'Summe der Ergebnisse',
  drawdown: 'Rückgang',
  result: 'Ergebnis',
  flow: 'Ein-/Auszahlung',
  exposure: 'Exposure',
  when: 'Wann',
  rows: 'Ergebnisse nach Zeitraum',
  calendar: 'G/V-Kalender',
  earlier: 'Früherer Monat',
  later: 'Späterer Monat',
  total: (result) => `Ergebnis des Monats: ${result}`,
  range: (lowest, highest, last) => `von ${lowest} bis ${highest}, zuletzt ${last}`,
  empty: 'Noch wurde nichts erfasst. Werte werden ab der ersten Buchung alle paar Minuten und am Ende jedes Tages erfasst.',
  failed: 'Der Wertverlauf ließ sich nicht lesen',
};

export function valueTexts(language: Language): ValueTexts {
  return language === 'de' ? de : en;
}
