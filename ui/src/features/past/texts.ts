/** Texts of past states. They are loaded with them, so that they do not weigh on the start of the screen. */

import type { Language } from '../../state/api';

const en = {
  past: 'PAST',
  readOnly: 'read-only, nothing here can be traded',
  state: (at: string, sequence: string) => `State of ${at}, sequence ${sequence}`,
  point: 'Point in the past',
  span: 'Slider over the last',
  hour: 'Hour',
  day: 'Day',
  week: 'Week',
  month: 'Month',
  values: 'Value',
  positions: 'Positions',
  orders: 'Open orders',
  cash: 'Cash',
  none: 'None',
  failed: 'This state could not be read',
};

type PastTexts = typeof en;

const de: PastTexts = {
  past: 'VERGANGENHEIT',
  readOnly: 'nur zum Lesen, hier wird nichts gehandelt',
  state: (at, sequence) => `Stand vom ${at}, Sequenz ${sequence}`,
  point: 'Zeitpunkt in der Vergangenheit',
  span: 'Regler über',
  hour: 'Stunde',
  day: 'Tag',
  week: 'Woche',
  month: 'Monat',
  values: 'Wert',
  positions: 'Positionen',
  orders: 'Offene Orders',
  cash: 'Guthaben',
  none: 'Keine',
  failed: 'Dieser Stand konnte nicht gelesen werden',
};

export function pastTexts(language: Language): PastTexts {
  return language === 'de' ? de : en;
}
