/**
 * Number input as a user types it, or copies it from a grid. A text with one meaning in the user's locale is accepted, with its
 * thousands separators; a text that could mean two numbers is not guessed, because money is at stake: it is rejected, and the
 * readings are offered. A text that is no number goes to the server unchanged, and the server's error names the fault.
 */

import type { Formats } from '../../texts/formats';

/** The server would accept it, but the user may have mistyped. */
const EXPONENT = /^[+-]?[\d.,]+e[+-]?\d+$/i;
const SUFFIX = /^(.*\d[.,]?)\s*([km])$/i;
const FACTOR: Record<string, number> = { k: 1_000, m: 1_000_000 };
const SPACES = /[\s\u00a0\u202f]/g;

type Locale = Pick<Formats, 'price'>;

interface Signs {
  group: string;
  decimal: string;
}

/** What a text means: one number, none, or one of several. */
type Reading = { value: number } | { text: string } | { readings: readonly number[] };

const ENGLISH: Signs = { group: ',', decimal: '.' };
const GERMAN: Signs = { group: '.', decimal: ',' };

export function amountOf(text: string, formats: Locale): number | string {
  const reading = read(text, formats);
  return 'value' in reading ? reading.value : text.trim();
}

/** Whether it could be taken for another number than the one that was meant; such a text is not sent. */
export function isUnclear(text: string, formats: Locale): boolean {
  return 'readings' in read(text, formats);
}

/** What an unclear text may mean, in the form in which each can be written instead. */
export function readingsOf(text: string, formats: Locale): string[] {
  const reading = read(text, formats);
  return 'readings' in reading ? [...new Set(reading.readings)].map((value) => typed(value, formats)) : [];
}

function read(text: string, formats: Locale): Reading {
  const typedText = text.trim();
  if (EXPONENT.test(typedText)) return { readings: [Number(typedText.replace(',', '.'))] };
  const [, digits = typedText, letter = ''] = SUFFIX.exec(typedText) ?? [];
  const [, sign = '', bare = ''] = /^([+-]?)(.*)$/.exec(digits) ?? [];
  const factor = (FACTOR[letter.toLowerCase()] ?? 1) * (sign === '-' ? -1 : 1);
  const scaled = (value: number): number => Number((value * factor).toPrecision(15));
  const reading = readBare(bare, signsOf(formats));
  if ('value' in reading) return { value: scaled(reading.value) };
  return 'readings' in reading ? { readings: reading.readings.map(scaled) } : { text: typedText };
}

function readBare(bare: string, signs: Signs): Reading {
  const own = bare.replace(SPACES, signs.group === ' ' ? ' ' : '\u0000').replaceAll('’', "'");
  const [plain, grouped] = [plainIn(own, signs), groupedIn(own, signs)];
  const foreign = signs.decimal === ',' ? ENGLISH : GERMAN;
  if (plain !== null) return isDoubtful(own, signs) ? { readings: [plain, groupedIn(own, foreign) ?? plain] } : { value: plain };
  if (signs.decimal === ',') return grouped === null ? readPoint(own) : readGrouped(own, grouped);
  if (grouped !== null) return { value: grouped };
  const meant = [plainIn(own, foreign), groupedIn(own, foreign)].filter((value) => value !== null);
  return meant.length > 0 ? { readings: meant } : { text: bare };
}

/** Where the comma is decimal, a point is taken for one too, as on every keyboard with digits beside the letters. */
function readPoint(own: string): Reading {
  const [plain, english] = [plainIn(own, ENGLISH), groupedIn(own, ENGLISH)];
  if (plain !== null) return { value: plain };
  return english === null ? { text: own } : { readings: [english] };
}

/** `1.700` may be our own grid's thousands or a price with a point; `1.700,5` and `1.700.000` can't. */
function readGrouped(own: string, grouped: number): Reading {
  const point = plainIn(own, ENGLISH);
  return point === null ? { value: grouped } : { readings: [grouped, point] };
}

/** `1,000` with a decimal comma: we never write noughts at the end, so it may well be a thousand. */
function isDoubtful(own: string, { decimal }: Signs): boolean {
  return decimal === ',' && /^[1-9]\d{0,2},\d\d0$/.test(own);
}

function plainIn(text: string, { decimal }: Signs): number | null {
  const [whole = '', part = '', ...more] = text.split(decimal);
  const isNumber = more.length === 0 && /^\d*$/.test(whole) && /^\d*$/.test(part) && whole + part !== '';
  return isNumber ? Number(`${whole || '0'}.${part || '0'}`) : null;
}

function groupedIn(text: string, { group, decimal }: Signs): number | null {
  const [whole = '', part = '', ...more] = text.split(decimal);
  const [first = '', ...groups] = whole.split(group);
  const isGrouped = groups.length > 0 && /^[1-9]\d{0,2}$/.test(first) && groups.every((three) => /^\d{3}$/.test(three));
  return isGrouped && more.length === 0 && /^\d*$/.test(part) ? Number(`${first}${groups.join('')}.${part || '0'}`) : null;
}

/** A number in the form in which `amountOf` reads it back. */
export function typed(value: number | null | undefined, formats: Locale): string {
  const text = digitsOf(value);
  return signsOf(formats).decimal === ',' ? text.replace('.', ',') : text;
}

/** One step of the instrument up or down from what stands there, without the noise of binary fractions. */
export function stepped(text: string, step: number, direction: 1 | -1, formats: Locale): string {
  const from = amountOf(text, formats);
  const steps = typeof from === 'number' ? Math.round(from / step) + direction : direction;
  const decimals = digitsOf(step).split('.')[1]?.length ?? 0;
  return typed(Number((Math.max(steps, 0) * step).toFixed(decimals)), formats);
}

function digitsOf(value: number | null | undefined): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  return text.includes('e') ? value.toFixed(12).replace(/\.?0+$/, '') : text;
}

/** `1,234,567.5` in the locale shows both. */
function signsOf(formats: Locale): Signs {
  const written = formats.price(1_234_567.5, 1).replace(SPACES, ' ').replaceAll('’', "'");
  return { group: /\d/.test(written.charAt(1)) ? ',' : written.charAt(1), decimal: written.at(-2) ?? '.' };
}
