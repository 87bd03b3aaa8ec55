/**
 * Translation of server texts into the language and the number formats of the screen. Codes are stable and texts carry the values,
 * so a rule is a text of the server with names for its values, and the text that is shown instead.
 */

import type { Formats } from './formats';

/**
 * The server's text and the shown one. `{name}` stands for anything, `{name:n}` for an amount, which is written by the locale, and
 * `{name:f}` for a field, which has a word in each language.
 */
export type Rule = readonly [server: string, shown: string];

export interface ServerTexts {
  /** By code; the first that fits is used. */
  rules: Readonly<Record<string, readonly Rule[]>>;
  /** By code, for a text that no rule fits; the server's own words follow it. */
  general: Readonly<Record<string, string>>;
  fields: Readonly<Record<string, string>>;
}

/** An id, a port or a revision is no amount: it stays as it is. */
const AMOUNT =
  /(?<![\w.-])(?<!(?:order|security|account|exchange|position|transaction|family|session|strategy|id|revision|character) )-?\d+(?:\.\d+)?(?![\w.-])/g;
const PLACEHOLDER = /\{(\w+)(?::([nf]))?\}/g;
const KINDS = { n: String.raw`-?\d+(?:\.\d+)?`, f: String.raw`\w+`, '': '.+?' };

interface Compiled {
  pattern: RegExp;
  kinds: ReadonlyMap<string, keyof typeof KINDS>;
}

const compiled = new Map<string, Compiled>();

type Numbers = Pick<Formats, 'quantity'>;

/** Without a code, as in the reason of an order, every rule is tried. */
export function serverText(texts: ServerTexts, formats: Numbers, code: string | null, text: string): string {
  const rules = code === null ? Object.values(texts.rules).flat() : (texts.rules[code] ?? []);
  for (const rule of rules) {
    const shown = applied(rule, text, texts, formats);
    if (shown !== null) return shown;
  }
  const words = text.replace(AMOUNT, (amount) => formats.quantity(Number(amount)));
  const general = code === null ? undefined : texts.general[code];
  return general === undefined ? words : `${general} (${words})`;
}

export function fieldName(texts: ServerTexts, field: string): string {
  return texts.fields[field] ?? field;
}

function applied([server, shown]: Rule, text: string, texts: ServerTexts, formats: Numbers): string | null {
  const { pattern, kinds } = compile(server);
  const values = pattern.exec(text)?.groups ?? (pattern.test(text) ? {} : null);
  if (values === null) return null;
  return shown.replace(PLACEHOLDER, (_, name: string) => {
    const value = values[name] ?? '';
    if (kinds.get(name) === 'n') return formats.quantity(Number(value));
    return kinds.get(name) === 'f' ? fieldName(texts, value) : value;
  });
}

function compile(server: string): Compiled {
  const known = compiled.get(server);
  if (known !== undefined) return known;
  const kinds = new Map<string, keyof typeof KINDS>();
  const escaped = server.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  const source = escaped.replace(PLACEHOLDER, (_, name: string, kind: 'n' | 'f' | undefined) => {
    if (kinds.has(name)) return String.raw`\k<${name}>`;
    kinds.set(name, kind ?? '');
    return `(?<${name}>${KINDS[kind ?? '']})`;
  });
  const made = { pattern: new RegExp(`^${source}$`), kinds };
  compiled.set(server, made);
  return made;
}
