import { paintBadge } from '../../parts/badges';
import { figures, instants, words } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import type { Reference } from '../../state/api';
import { SIDE_TONE } from '../../state/tones';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { TransactionVO } from '../../wire/types';
import { securityColumn } from '../common/symbols';

export function transactionColumns(reference: Reference, texts: Texts, formats: Formats): GridColumn<TransactionVO>[] {
  const { column } = texts;
  const priced = (value: number | null, row: TransactionVO) =>
    row.securityId === null ? formats.money(value) : formats.price(value, reference.priceDigits(row.securityId));
  return [
    instants('time', column.time, 92, (row) => row.dateTime, formats.moment, { sorted: 'desc' }),
    securityColumn(reference, texts, formats, 88, (row) => row.securityId),
    typeColumn(texts),
    figures('quantity', column.quantity, 84, (row) => row.quantity, formats.quantity),
    figures('price', column.price, 104, (row) => row.price, priced),
    words('currency', column.currency, 70, (row) => row.currency),
    figures('commission', column.commission, 92, commissionOf, formats.money),
    figures('fee', column.fee, 72, (row) => row.fee, formats.money),
    words('strategy', column.strategy, 90, (row) => reference.strategyName(row.strategyId)),
    words('account', column.account, 110, (row) => reference.accountName(row.accountId)),
    words('intId', column.intId, 96, (row) => row.intOrderId ?? ''),
    words('venueId', column.venueId, 130, (row) => row.extId ?? '', { hidden: true }),
    words('liquidity', column.liquidity, 80, (row) => row.liquidity?.toLowerCase() ?? '', { hidden: true }),
    words('settlement', column.settlement, 90, (row) => row.settlementDate ?? '', { hidden: true }),
    words('description', column.description, 150, (row) => row.description ?? ''),
  ];
}

export function commissionOf(
  transaction: Pick<TransactionVO, 'executionCommission' | 'clearingCommission'>,
): number | null {
  const { executionCommission, clearingCommission } = transaction;
  if (executionCommission === null && clearingCommission === null) return null;
  return (executionCommission ?? 0) + (clearingCommission ?? 0);
}

/** What the venue booked besides trades is named as the venue calls it, too. */
export function typeWord({ type, venueKind }: Pick<TransactionVO, 'type' | 'venueKind'>, texts: Texts): string {
  const word = texts.transactionType[type];
  return venueKind === null ? word : `${word}: ${texts.venueKind[venueKind] ?? venueKind}`;
}

function typeColumn(texts: Texts): GridColumn<TransactionVO> {
  return {
    ...words('kind', texts.column.kind, 84, (row) => typeWord(row, texts)),
    paint: (cell, row) => {
      const tone = row.type === 'BUY' || row.type === 'SELL' ? SIDE_TONE[row.type] : 'quiet';
      paintBadge(cell, tone, typeWord(row, texts));
    },
  };
}
