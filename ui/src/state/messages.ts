/** Error messages in the language of the screen: by code and with amounts of the locale, else the server's text. */

import type { Texts } from '../texts';
import type { Formats } from '../texts/formats';
import { fieldName, serverText } from '../texts/server';
import { WireError } from '../wire/error';
import type { FieldError } from '../wire/types';

/** What is wrong with a form: by field, and what concerns none of them. */
export interface Faults {
  fields: Readonly<Record<string, string>>;
  general: string;
}

export const NO_FAULTS: Faults = { fields: {}, general: '' };

export class Messages {
  constructor(
    private readonly texts: Texts,
    private readonly formats: Formats,
  ) {}

  /** A text of the server; `null` where it came without a code. */
  text(code: string | null, text: string): string {
    return serverText(this.texts.server, this.formats, code, text);
  }

  error(error: unknown): string {
    if (error instanceof WireError) return this.faults(error, []).general;
    return error instanceof Error ? error.message : String(error);
  }

  /** All faults at once, each at its field as far as the form has it. */
  faults(error: unknown, shown: readonly string[]): Faults {
    if (!(error instanceof WireError)) return { fields: {}, general: this.error(error) };
    const placed = error.errors.filter(({ field }) => shown.includes(field));
    const fields = Object.fromEntries(placed.map(({ field }) => [field, this.reasons(placed, field)]));
    const others = error.errors.filter(({ field }) => !shown.includes(field));
    return { fields, general: placed.length > 0 && others.length === 0 ? '' : this.general(error, others) };
  }

  private reasons(errors: readonly FieldError[], name: string): string {
    const own = errors.filter(({ field }) => field === name);
    return own.map(({ code, reason }) => this.text(code, reason)).join('; ');
  }

  /** What is malformed says only how a field must be, so the field is named before it. */
  private general({ code, message, errors }: WireError, others: readonly FieldError[]): string {
    const isWhole = errors.length === 0 || (errors.length === 1 && errors[0]?.reason === message);
    if (isWhole) return this.text(code, message);
    return others.map(({ field, code, reason }) => `${fieldName(this.texts.server, field)} ${this.text(code, reason)}`).join('; ');
  }
}
