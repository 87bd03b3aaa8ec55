import { paintBadge, type Tone } from '../../parts/badges';
import { aging, figures, gains, words } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import type { Reference } from '../../state/api';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { PositionVO } from '../../wire/types';
import { securityColumn } from '../common/symbols';

/** Columns that move with the market: stale without a connection, and where the price of their own security is. */
const LIVE_COLUMNS: ReadonlySet<string> = new Set(['unrealized', 'marketPrice', 'marketValue', 'realized']);

export function positionColumns(
  reference: Reference,
  texts: Texts,
  formats: Formats,
  isLive: boolean,
  isStale: (securityId: number) => boolean,
): GridColumn<PositionVO>[] {
  const isOld = ({ securityId, quantity }: PositionVO): boolean => !isLive || (quantity !== 0 && isStale(securityId));
  const columns = plainColumns(reference, texts, formats);
  return columns.map((column) => (LIVE_COLUMNS.has(column.id) ? aging(column, isOld) : column));
}

function plainColumns(reference: Reference, texts: Texts, formats: Formats): GridColumn<PositionVO>[] {
  const { column } = texts;
  const priced = (value: number | null, row: PositionVO) => formats.price(value, reference.priceDigits(row.securityId));
  return [
    securityColumn(reference, texts, formats, 78, (row) => row.securityId, { pinned: true }),
    directionColumn(texts),
    figures('quantity', column.quantity, 66, (row) => row.quantity, formats.quantity),
    figures('average', column.average, 74, (row) => row.avgPrice, priced),
    gains('unrealized', column.unrealized, 92, (row) => row.unrealizedPL, formats.signed),
    words('strategy', column.strategy, 82, (row) => reference.strategyName(row.strategyId)),
    figures('marketPrice', column.marketPrice, 84, (row) => row.marketPrice, priced),
    figures('marketValue', column.marketValue, 90, (row) => row.marketValue, formats.money),
    gains('realized', column.realized, 84, (row) => row.realizedPL, formats.signed),
    figures('costs', column.costs, 70, (row) => row.commissions + row.fees, formats.money),
    words('currency', column.currency, 46, (row) => row.currency),
    figures('cost', column.cost, 100, (row) => row.cost, formats.money, { hidden: true }),
    words('account', column.account, 110, (row) => reference.accountName(row.accountId)),
  ];
}

function directionColumn(texts: Texts): GridColumn<PositionVO> {
  const reading = (row: PositionVO): [Tone, string] => {
    if (row.quantity === 0) return ['quiet', texts.positions.flat];
    return row.quantity > 0 ? ['buy', texts.positions.long] : ['sell', texts.positions.short];
  };
  return {
    ...words('side', texts.column.side, 60, (row) => reading(row)[1]),
    paint: (cell, row) => paintBadge(cell, ...reading(row)),
  };
}
