import { figures, words } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import type { Reference } from '../../state/api';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { LimitsVO } from '../../wire/types';
import { AMOUNTS, COUNTS, type CountName } from './limits';
import { scopeName } from './scopes';

export function limitColumns(reference: Reference, texts: Texts, formats: Formats): GridColumn<LimitsVO>[] {
  const { limit, noLimit, within } = texts.risk;
  const selfTradeModes: Readonly<Record<string, string>> = texts.risk.selfTradeModes;
  const { yes, no } = texts.strategies;
  const amount = (value: number | null): string => (value === null ? noLimit : formats.quantity(value));
  const count = (row: LimitsVO, name: CountName): string => {
    const found = row[name];
    return found === null ? noLimit : within(formats.quantity(found.count), formats.quantity(found.millis));
  };
  const selfTrade = (mode: string | null): string => (mode === null ? noLimit : (selfTradeModes[mode] ?? mode));
  const restricted = (ids: readonly number[] | null): string =>
    ids === null ? noLimit : ids.map((id) => reference.symbol(id)).join(', ');
  return [
    words('scope', texts.column.scope, 110, (row) => scopeName(row.scope, reference), { pinned: true }),
    ...AMOUNTS.map((name) => figures<LimitsVO>(name, limit[name], 150, (row) => row[name], amount)),
    ...COUNTS.map((name) => words<LimitsVO>(name, limit[name], 150, (row) => count(row, name))),
    words('cashCheck', limit.cashCheck, 140, (row) => (row.cashCheck === null ? noLimit : row.cashCheck ? yes : no)),
    words('selfTrade', limit.selfTrade, 140, (row) => selfTrade(row.selfTrade)),
    words('restrictedSecurities', limit.restrictedSecurities, 160, (row) => restricted(row.restrictedSecurities)),
  ];
}
