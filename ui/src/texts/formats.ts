/** Formats of numbers and times, the same on the whole screen. A missing value is an em dash. */

export const NOTHING = '—';

export interface FormatSettings {
  /** A BCP 47 tag; `''` follows the browser. */
  locale: string;
  timeZone: 'local' | 'UTC';
}

type Maybe = number | null | undefined;

export interface Formats {
  /** With exactly these decimal places. */
  price(value: Maybe, digits: number): string;
  /** With as many places as it needs. */
  quantity(value: Maybe): string;
  /** A decimal that is too long for a number, with every digit that it has; any other text as it is. */
  exact(decimal: string): string;
  /** A quantity where room is scarce: `1,600`, but `68.1k` and `2.25M`. */
  size(value: Maybe): string;
  /** Two places, grouped. */
  money(value: Maybe): string;
  /** Two places with a sign, also a plus. */
  signed(value: Maybe): string;
  percent(value: Maybe): string;
  /** A part of something, without a sign: `8.2 %`. */
  share(value: Maybe): string;
  /** Times are of 24 hours in every language, as on every tape. */
  time(at: Maybe): string;
  /** The time of what happened today, of all else the day and the time without seconds. */
  moment(at: Maybe): string;
  /** Without seconds. */
  timeShort(at: Maybe): string;
  /** With milliseconds. */
  timeExact(at: Maybe): string;
  dateTime(at: Maybe): string;
  date(at: Maybe): string;
  /** `3 s`, `4 min`, `2 h`. */
  age(ms: number): string;
}

export function formatsOf(settings: FormatSettings, now: () => number = Date.now): Formats {
  const locale = settings.locale || undefined;
  const timeZone = settings.timeZone === 'UTC' ? 'UTC' : undefined;
  const fixed = numbersOfPlaces(locale);
  const number = (options: Intl.NumberFormatOptions) => maybe(new Intl.NumberFormat(locale, options).format);
  const instant = (options: Intl.DateTimeFormatOptions) =>
    maybe(new Intl.DateTimeFormat(locale, { ...options, timeZone }).format);
  const time = instant({ timeStyle: 'medium', hourCycle: 'h23' });
  const timeShort = instant({ timeStyle: 'short', hourCycle: 'h23' });
  const date = instant({ dateStyle: 'short' });
  const day = instant({ day: '2-digit', month: '2-digit' });
  return {
    price: (value, digits) => (value == null ? NOTHING : fixed(digits).format(value)),
    quantity: number({ maximumFractionDigits: 8 }),
    exact: exactly(locale),
    size: sizes(number),
    money: number({ minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    signed: number({ minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: 'exceptZero' }),
    percent: number({ style: 'percent', minimumFractionDigits: 2, signDisplay: 'exceptZero' }),
    share: number({ style: 'percent', maximumFractionDigits: 1 }),
    time,
    moment: (at) => (at == null || date(at) === date(now()) ? time(at) : `${day(at)} ${timeShort(at)}`),
    timeShort,
    timeExact: instant({ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' }),
    dateTime: instant({ dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' }),
    date,
    age,
  };
}

const DECIMAL = /^-?\d+(?:\.(\d+))?$/;
/** More places than any amount has. */
const PLACES_MAX = 20;

function exactly(locale: string | undefined): (decimal: string) => string {
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: PLACES_MAX });
  return (decimal) => (DECIMAL.test(decimal) ? format.format(decimal as Intl.StringNumericLiteral) : decimal);
}

/** What would be written as 10,000 or more is written in thousands, with the suffix `k`. */
const THOUSANDS_FROM = 9_999.5;
/** What would be written as 1,000k or more is written in millions. */
const MILLIONS_FROM = 999_500;

function sizes(number: (options: Intl.NumberFormatOptions) => (value: Maybe) => string): (value: Maybe) => string {
  const whole = number({ maximumSignificantDigits: 4 });
  const short = number({ maximumSignificantDigits: 3 });
  return (value) => {
    const size = Math.abs(value ?? 0);
    // The zero before the point takes the room of a digit.
    if (value == null || size < THOUSANDS_FROM) return size < 1 ? short(value) : whole(value);
    return size < MILLIONS_FROM ? `${short(value / 1_000)}k` : `${short(value / 1_000_000)}M`;
  };
}

/** Making a number format is dear, so each is made once. */
function numbersOfPlaces(locale: string | undefined): (places: number) => Intl.NumberFormat {
  const known = new Map<number, Intl.NumberFormat>();
  return (places) => {
    const found = known.get(places);
    if (found) return found;
    const made = new Intl.NumberFormat(locale, { minimumFractionDigits: places, maximumFractionDigits: places });
    known.set(places, made);
    return made;
  };
}

function maybe(format: (value: number) => string): (value: Maybe) => string {
  return (value) => (value == null ? NOTHING : format(value));
}

function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
