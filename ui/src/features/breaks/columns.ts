/** The columns of the list of breaks. */

import { paintBadge } from '../../parts/badges';
import { figures, instants, words } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import { BREAK_TONE } from '../../state/tones';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { BreakVO } from '../../wire/types';

export function breakColumns(texts: Texts, formats: Formats): GridColumn<BreakVO>[] {
  const { column, breaks } = texts;
  return [
    words('id', column.id, 46, (row) => row.id, { pinned: true }),
    words('kind', column.kind, 76, (row) => breaks.kind[row.kind]),
    words('subject', breaks.subject, 104, subjectOf),
    figures('value', column.value, 76, (row) => numberOf(row.value), formats.money),
    instants('since', breaks.since, 76, (row) => Date.parse(row.since), formats.moment, { sorted: 'desc' }),
    stateColumn(texts),
    words('adapter', column.venue, 110, (row) => row.adapter),
    words('account', column.account, 96, (row) => row.account ?? ''),
    figures('difference', breaks.difference, 92, (row) => numberOf(row.difference), (_, row) => withUnit(row.difference, row.currency, formats)),
    words('comment', breaks.comment, 140, (row) => row.comment ?? '', { hidden: true }),
    words('who', column.who, 84, (row) => row.changedBy ?? '', { hidden: true }),
    words('venueId', column.venueId, 120, (row) => row.extOrderId ?? '', { hidden: true }),
  ];
}

/** What it is about: an order, a security or a currency. */
export function subjectOf({ security, intOrderId, extOrderId, currency }: BreakVO): string {
  const order = intOrderId ?? extOrderId;
  return [security, order].filter((part) => part !== null).join(' ') || (currency ?? '');
}

function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}

export function withUnit(amount: string | null, unit: string | null, formats: Formats): string {
  return amount === null ? '' : [formats.exact(amount), unit].filter(Boolean).join(' ');
}

function stateColumn(texts: Texts): GridColumn<BreakVO> {
  const value = (row: BreakVO): string => texts.breaks.state[row.state];
  return { ...words('state', texts.column.state, 88, value), paint: (cell, row) => paintBadge(cell, BREAK_TONE[row.state], value(row)) };
}
