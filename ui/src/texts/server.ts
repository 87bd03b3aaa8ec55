/**
 * What the server says, in the person's language and with numbers as everywhere on the screen. Its codes are stable and its texts
 * say the numbers; what is not known here is shown in the server's own words.
 */

import type { Formats } from './formats';

type Language = 'en' | 'de';
type Say = (...parts: string[]) => string;

interface Rule {
  pattern: RegExp;
  /** Left out: the text as it is, with its numbers written anew. */
  en?: Say;
  de: Say;
}

const NUMBER = /(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.-])/g;
const FIELD: Record<string, string> = { quantity: 'Menge', limit: 'Limit', stop: 'Stop' };
const field = (name: string): string => FIELD[name] ?? name;
const AMOUNT = '(-?[\\d.]+)';

const LIMITS = {
  'max-order-quantity': 'Menge der Order',
  'max-order-notional': 'Wert der Order',
  'max-open-orders': 'Zahl der offenen Orders',
  'max-open-notional': 'Wert der offenen Orders',
  'max-position': 'Position',
  'max-gross-exposure': 'Gesamtposition',
  'order-rate': 'Orders in der Sekunde',
  'duplicate-content': 'gleiche Orders',
};

const RULES: Record<string, Rule> = {
  'insufficient-cash': {
    pattern: new RegExp(`^needs ${AMOUNT} (\\w+), available are ${AMOUNT} \\w+$`),
    en: (needed, currency, available) => `needs ${needed} ${currency}, the account has ${available} ${currency} available`,
    de: (needed, currency, available) => `braucht ${needed} ${currency}, auf dem Konto verfügbar sind ${available} ${currency}`,
  },
  'not-positive': { pattern: new RegExp(`^(\\w+) ${AMOUNT} must be more than zero$`), de: (name, value) => `${field(name!)} ${value} muss größer als null sein` },
  'not-a-multiple': { pattern: new RegExp(`^(\\w+) ${AMOUNT} is not a multiple of ${AMOUNT}$`), de: (name, value, step) => `${field(name!)} ${value} ist kein Vielfaches von ${step}` },
  'too-small': { pattern: new RegExp(`^(\\w+) ${AMOUNT} is below the minimum of ${AMOUNT}$`), de: (name, value, least) => `${field(name!)} ${value} liegt unter dem Kleinsten von ${least}` },
  'too-large': { pattern: new RegExp(`^(\\w+) ${AMOUNT} is above the maximum of ${AMOUNT}$`), de: (name, value, most) => `${field(name!)} ${value} liegt über dem Größten von ${most}` },
  'trading-halted': { pattern: /^trading is \w+ for (\S+)$/, de: (scope) => `der Handel ist angehalten: ${scope}` },
  'trading-reducing': { pattern: /^trading is \w+ for (\S+)$/, de: (scope) => `nur Verringern ist erlaubt: ${scope}` },
  'price-collar': { pattern: /^price (\S+) is more than (\S+) % through the reference of (\S+)$/, de: (price, percent, reference) => `der Preis ${price} liegt um mehr als ${percent} % jenseits von ${reference}` },
  'stale-price': { pattern: /^the newest price of security \S+ is (\d+) s old, more than (\d+) s$/, de: (age, limit) => `der neueste Kurs ist ${age} s alt, erlaubt sind ${limit} s` },
  'no-reference-price': { pattern: /^no price of security \S+ is known$/, de: () => 'es ist kein Kurs bekannt' },
  'not-tradeable': { pattern: /^security \S+ cannot be traded$/, de: () => 'das Wertpapier ist nicht handelbar' },
  'security-expired': { pattern: /^security \S+ has expired$/, de: () => 'das Wertpapier ist verfallen' },
  'market-closed': { pattern: /^exchange \S+ is closed/, de: () => 'die Börse ist geschlossen, und diese Order braucht einen offenen Markt' },
  'adapter-down': { pattern: /^the adapter (\S+) is not connected/, de: (name) => `${name} ist nicht verbunden: später noch einmal` },
  'adapter-reconciling': { pattern: /^the adapter (\S+) is comparing/, de: (name) => `${name} gleicht Orders ab: gleich noch einmal` },
  'self-trade': { pattern: /^would trade with the account's own order (\S+)$/, de: (id) => `würde mit der eigenen Order ${id} handeln` },
  'would-flip': { pattern: /^may only reduce the position, of which (\S+) can be closed$/, de: (open) => `darf die Position nur verringern, schließen lassen sich ${open}` },
  'date-in-the-past': { pattern: /^the good-till date lies in the past$/, de: () => 'das Datum liegt in der Vergangenheit' },
  'no-auction': { pattern: /^the exchange has no auction for (\S+)$/, de: (tif) => `die Börse hat keine Auktion für ${tif}` },
  'account-inactive': { pattern: /^account \S+ is not active$/, de: () => 'das Konto ist nicht aktiv' },
  'account-ambiguous': { pattern: /^several accounts reach the exchange/, de: () => 'mehrere Konten erreichen die Börse: eines wählen' },
  'no-account': { pattern: /^no active account reaches exchange/, de: () => 'kein aktives Konto erreicht die Börse' },
  'order-closed': { pattern: /^order (\S+) is finished$/, de: (id) => `Order ${id} ist beendet` },
  'cancel-pending': { pattern: /^order (\S+) is being cancelled already$/, de: (id) => `Order ${id} wird schon gestrichen` },
  'replace-pending': { pattern: /^order (\S+) is being replaced already$/, de: (id) => `Order ${id} wird schon geändert` },
  'position-closed': { pattern: /^position \S+ is closed$/, de: () => 'die Position ist geschlossen' },
  missing: { pattern: /is needed$/, de: () => 'wird gebraucht' },
  'malformed-field': { pattern: /^must be a number$/, de: () => 'muss eine Zahl sein' },
  ...Object.fromEntries(
    Object.entries(LIMITS).map(([code, name]) => [
      code,
      { pattern: new RegExp(`^(\\S+): ${AMOUNT} is above the limit of ${AMOUNT}$`), de: (scope: string, value: string, limit: string) => `${name}: ${value} liegt über der Grenze von ${limit} (${scope})` },
    ]),
  ),
};

export function serverText(language: Language, formats: Pick<Formats, 'quantity'>, code: string | null, text: string): string {
  const written = (part: string): string => (/^-?\d+(\.\d+)?$/.test(part) ? formats.quantity(Number(part)) : part);
  const rule = code === null ? undefined : RULES[code];
  const say = rule?.[language];
  const parts = say && rule?.pattern.exec(text);
  return parts ? say(...parts.slice(1).map((part) => written(part))) : text.replace(NUMBER, (number) => written(number));
}
