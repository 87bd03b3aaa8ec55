/** Lines to a venue in words: when each was last heard, or since when it is down. */

import type { Tone } from '../../parts/badges';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { AdapterVO, LineKind, LineVO, OpenFor } from '../../wire/types';

export const LINES: readonly LineKind[] = ['TRADING', 'PRIVATE', 'PRICES'];

export const OPEN_TONE: Record<OpenFor, Tone> = { ORDERS: 'ok', REDUCE: 'warn', NOTHING: 'bad' };

export function lineOf({ lines }: Pick<AdapterVO, 'lines'>, kind: LineKind): LineVO | undefined {
  return lines.find(({ line }) => line === kind);
}

/** A line that the venue does not have apart has no state of its own. */
export function lineState(line: LineVO | undefined, now: number, texts: Texts['lines'], formats: Pick<Formats, 'age'>): [Tone, string] {
  if (line === undefined) return ['quiet', texts.notApart];
  const { up, since, lastHeard } = line;
  if (!up) return ['bad', since === null ? texts.down : texts.downFor(formats.age(now - since))];
  return ['ok', lastHeard === null ? texts.up : texts.heard(formats.age(now - lastHeard))];
}

/** Why the venue is not open for everything: the reason of each line that is down. */
export function reasonsOf({ lines }: Pick<AdapterVO, 'lines'>, texts: Texts['lines']): string {
  return lines.flatMap(({ line, up, reason }) => (up || reason === null ? [] : [`${texts.line[line]}: ${reason}`])).join('; ');
}
