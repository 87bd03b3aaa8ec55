/**
 * A number as a person types it. Grouping is not understood on purpose: whether `1.000` is one or a thousand must not be
 * guessed where money is at stake. What is no number goes to the server as it is, and the server says what is wrong.
 */

import type { Formats } from '../../texts/formats';

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)$/;
/** How grids write thousands where the comma is decimal. */
const POINT_GROUPED = /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/;
/** The server would read it, the person may have slipped. */
const EXPONENT = /^[+-]?[\d.,]+e[+-]?\d+$/i;

type Locale = Pick<Formats, 'price'>;

/** A point is always a decimal point; a comma is one where the person's locale has it so. */
export function amountOf(text: string, formats: Locale): number | string {
  const typed = text.trim();
  const plain = isCommaDecimal(formats) && !typed.includes('.') ? typed.replace(',', '.') : typed;
  return NUMBER.test(plain) && !isUnclear(typed, formats) ? Number(plain) : typed;
}

/** Whether it could be taken for another number than the one that was meant; such a text is not sent. */
export function isUnclear(text: string, formats: Locale): boolean {
  const typed = text.trim();
  return EXPONENT.test(typed) || (isCommaDecimal(formats) && POINT_GROUPED.test(typed));
}

/** A number in the form in which `amountOf` reads it back. */
export function typed(value: number | null | undefined, formats: Locale): string {
  const text = digitsOf(value);
  return isCommaDecimal(formats) ? text.replace('.', ',') : text;
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

function isCommaDecimal(formats: Locale): boolean {
  return formats.price(0.5, 1).includes(',');
}
