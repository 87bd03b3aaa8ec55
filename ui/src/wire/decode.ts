/**
 * Decoders: from `unknown` to a typed value, or a `DecodeError` that names the field. A decoder checks its input and returns
 * it; unknown keys stay, unused.
 */

export type Decoder<T> = (value: unknown, path: string) => T;

/** What a decoder gives. */
export type Decoded<D> = D extends Decoder<infer T> ? T : never;

export class DecodeError extends Error {
  constructor(path: string, expected: string, found: unknown) {
    super(`${path || 'the value'} should be ${expected}, and is ${shown(found)}`);
    this.name = 'DecodeError';
  }
}

export const text: Decoder<string> = (value, path) => {
  if (typeof value === 'string') return value;
  throw new DecodeError(path, 'a text', value);
};

export const number: Decoder<number> = (value, path) => {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new DecodeError(path, 'a number', value);
};

export const flag: Decoder<boolean> = (value, path) => {
  if (typeof value === 'boolean') return value;
  throw new DecodeError(path, 'true or false', value);
};

export const nothing: Decoder<null> = (value, path) => {
  if (value === null) return null;
  throw new DecodeError(path, 'null', value);
};

export function oneOf<const T extends string>(...names: readonly T[]): Decoder<T> {
  const known = new Set<unknown>(names);
  return (value, path) => {
    if (known.has(value)) return value as T;
    throw new DecodeError(path, `one of ${names.join(', ')}`, value);
  };
}

/** A value that may be `null`. */
export function maybe<T>(decoder: Decoder<T>): Decoder<T | null> {
  return (value, path) => (value === null ? null : decoder(value, path));
}

/** A key that only some kinds of a type have. */
export function optional<T>(decoder: Decoder<T>): Decoder<T | undefined> {
  return (value, path) => (value === undefined ? undefined : decoder(value, path));
}

export function list<T>(decoder: Decoder<T>): Decoder<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw new DecodeError(path, 'a list', value);
    value.forEach((item, place) => decoder(item, `${path}[${place}]`));
    return value as T[];
  };
}

type Fields = Record<string, Decoder<unknown>>;

/** Keys whose decoder also takes what is missing. */
type OptionalKeys<F extends Fields> = { [Key in keyof F]: undefined extends Decoded<F[Key]> ? Key : never }[keyof F];

type Values<F extends Fields> = { [Key in Exclude<keyof F, OptionalKeys<F>>]: Decoded<F[Key]> } & {
  [Key in OptionalKeys<F>]?: Decoded<F[Key]>;
};

/** The type of the object follows from the decoders of its keys. */
export function object<F extends Fields>(fields: F): Decoder<{ [Key in keyof Values<F>]: Values<F>[Key] }> {
  const decoders = Object.entries(fields);
  return (value, path) => {
    const keyed = record(value, path);
    for (const [key, decode] of decoders) decode(keyed[key], path ? `${path}.${key}` : key);
    return keyed as Values<F>;
  };
}

export function record(value: unknown, path: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new DecodeError(path, 'an object', value);
}

export const textsByKey: Decoder<Record<string, string>> = (value, path) => {
  const keyed = record(value, path);
  for (const [key, item] of Object.entries(keyed)) text(item, `${path}.${key}`);
  return keyed as Record<string, string>;
};

export function decode<T>(decoder: Decoder<T>, value: unknown): T {
  return decoder(value, '');
}

export function decodeText<T>(decoder: Decoder<T>, json: string): T {
  return decoder(JSON.parse(json), '');
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 60);
}
