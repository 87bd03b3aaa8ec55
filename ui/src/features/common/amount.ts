/**
 * A number as a person types it. Grouping is not understood on purpose: whether `1.000` is one or a thousand must not be
 * guessed where money is at stake. What is no number goes to the server as it is, and the server says what is wrong.
 */

import type { Formats } from '../../texts/formats';

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)$/;

/** A point is always a decimal point; a comma is one where the person's locale has it so. */
export function amountOf(text: string, formats: Pick<Formats, 'price'>): number | string {
  const typed = text.trim();
  const isComma = formats.price(0.5, 1).includes(',');
  const plain = isComma && !typed.includes('.') ? typed.replace(',', '.') : typed;
  return NUMBER.test(plain) ? Number(plain) : typed;
}

/** A number in the form in which `amountOf` reads it back. */
export function typed(value: number | null | undefined): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  return text.includes('e') ? value.toFixed(12).replace(/\.?0+$/, '') : text;
}

/** One step of the instrument up or down from what stands there, without the noise of binary fractions. */
export function stepped(text: string, step: number, direction: 1 | -1, formats: Pick<Formats, 'price'>): string {
  const from = amountOf(text, formats);
  const steps = typeof from === 'number' ? Math.round(from / step) + direction : direction;
  const decimals = typed(step).split('.')[1]?.length ?? 0;
  return typed(Number((Math.max(steps, 0) * step).toFixed(decimals)));
}
