/** The columns of an order, the same in the list of open orders and in the history. */

import { paintBadge } from '../../parts/badges';
import { setText } from '../../parts/grid/cells';
import { figures, instants, words } from '../../parts/grid/make';
import type { GridColumn } from '../../parts/grid/types';
import type { Reference } from '../../state/api';
import { ORDER_TONE, SIDE_TONE } from '../../state/tones';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import { serverText } from '../../texts/server';
import type { OrderVO } from '../../wire/types';
import { isExternal } from './external';
import { propertiesOf } from './properties';
import { securityColumn } from './symbols';

type Column = GridColumn<OrderVO>;

export function orderColumns(reference: Reference, texts: Texts, formats: Formats): Column[] {
  const { column } = texts;
  const priced = (value: number | null, row: OrderVO) =>
    value === null ? '' : formats.price(value, reference.priceDigits(row.securityId));
  return [
    instants('time', column.time, 78, (row) => row.dateTime, formats.moment, { sorted: 'desc' }),
    securityColumn(reference, texts, formats, 74, (row) => row.securityId, {}, (row) => (isExternal(row) ? texts.claim.tag : '')),
    sideColumn(texts),
    figures('quantity', column.quantity, 62, (row) => row.quantity, formats.quantity),
    figures('limit', column.limit, 64, (row) => row.limit ?? null, priced),
    statusColumn(texts),
    figures('filled', column.filled, 58, (row) => row.filledQuantity, formats.quantity),
    words('kind', column.kind, 64, (row) => texts.orderKind[row.objectType]),
    figures('stop', column.stop, 64, (row) => row.stop ?? null, priced),
    words('tif', column.tif, 54, (row) => row.tif),
    figures('average', column.average, 82, (row) => row.avgPrice, priced),
    figures('remaining', column.remaining, 84, (row) => row.remainingQuantity, formats.quantity, { hidden: true }),
    instants('expires', column.expires, 130, (row) => row.tifDateTime, (at) => (at === null ? '' : formats.dateTime(at)), {
      hidden: true,
    }),
    words('properties', column.properties, 140, (row) => propertiesOf(row, texts, formats).join(', '), { hidden: true }),
    ...identityColumns(reference, texts),
    words('reason', column.reason, 180, ({ reason }) => (reason === null ? '' : serverText(texts.server, formats, null, reason))),
  ];
}

function identityColumns(reference: Reference, texts: Texts): Column[] {
  const { column } = texts;
  return [
    words('source', column.source, 88, (row) => row.source),
    strategyColumn(reference, texts),
    words('account', column.account, 110, (row) => reference.accountName(row.accountId), { hidden: true }),
    words('exchange', column.exchange, 76, (row) => reference.exchangeCode(row.exchangeId), { hidden: true }),
    words('intId', column.intId, 96, (row) => row.intId),
    words('clientId', column.clientId, 96, (row) => row.clOrdId ?? '', { hidden: true }),
    words('venueId', column.venueId, 150, (row) => row.extId ?? '', { hidden: true }),
    words('reference', column.reference, 110, (row) => row.reference ?? '', { hidden: true }),
  ];
}

/** An order that was not placed here is marked. */
function strategyColumn(reference: Reference, texts: Texts): Column {
  const value = (row: OrderVO): string => reference.strategyName(row.strategyId);
  return {
    ...words('strategy', texts.column.strategy, 88, value),
    paint: (cell, row) => {
      const external = isExternal(row);
      setText(cell, value(row));
      cell.classList.toggle('external', external);
      cell.title = external ? texts.claim.hint : '';
    },
  };
}

function sideColumn(texts: Texts): Column {
  const value = (row: OrderVO): string => texts.side[row.side];
  return {
    ...words('side', texts.column.side, 78, value),
    paint: (cell, row) => paintBadge(cell, SIDE_TONE[row.side], value(row)),
  };
}

/** An order in doubt is marked beside its status. */
function statusColumn(texts: Texts): Column {
  const value = (row: OrderVO): string => {
    const status = texts.orderStatus[row.status];
    return row.inDoubt ? `${status}, ${texts.inDoubt}` : status;
  };
  return {
    ...words('status', texts.column.status, 90, value),
    paint: (cell, row) => paintBadge(cell, row.inDoubt ? 'warn' : ORDER_TONE[row.status], value(row)),
  };
}
