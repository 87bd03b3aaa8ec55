/** Price of one security: subscribed while a widget shows it, and checked for staleness. */

import type { Clock, Market, Quote, Stop } from '../../state/api';

const STALENESS_MS = 1_000;

export function followPrice(
  market: Market,
  clock: Clock,
  securityId: number,
  onQuote: (quote: Quote, isStale: boolean) => void,
): Stop {
  let newest = market.quotes.row(securityId);
  const show = (): void => {
    if (newest) onQuote(newest, market.isStale(newest));
  };
  const stops = [
    market.want([securityId]),
    market.quotes.watch(({ upserted }) => {
      const found = upserted.find((quote) => quote.securityId === securityId);
      if (found === undefined) return;
      newest = found;
      show();
    }),
    clock.every(STALENESS_MS, show),
  ];
  return () => stops.forEach((stop) => stop());
}
