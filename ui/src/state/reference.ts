/** Reference data: securities, families, exchanges and accounts; loaded again at every reconnect. */

import type { Server } from '../wire/server';
import type { AccountVO, ExchangeVO, SecurityFamilyVO, SecurityVO, StrategyVO } from '../wire/types';
import type { Clock, Reference, Table } from './api';
import { Rows } from './table';

/** Places of a price where no tick size is known. */
const PRICE_DIGITS_DEFAULT = 2;
const PRICE_DIGITS_MAX = 8;

type Source = Pick<Server, 'securities' | 'families' | 'exchanges' | 'accounts' | 'search'>;

export class ReferenceData implements Reference {
  readonly securities: Rows<number, SecurityVO>;
  readonly families: Rows<number, SecurityFamilyVO>;
  readonly exchanges: Rows<number, ExchangeVO>;
  readonly accounts: Rows<number, AccountVO>;

  constructor(
    private readonly server: Source,
    clock: Clock,
    private readonly strategies: Table<number, StrategyVO>,
  ) {
    this.securities = new Rows(clock, (row) => row.id);
    this.families = new Rows(clock, (row) => row.id);
    this.exchanges = new Rows(clock, (row) => row.id);
    this.accounts = new Rows(clock, (row) => row.id);
  }

  async load(): Promise<void> {
    const { server } = this;
    const [securities, families, exchanges, accounts] = await Promise.all([
      server.securities(),
      server.families(),
      server.exchanges(),
      server.accounts(),
    ]);
    this.securities.reset(securities);
    this.families.reset(families);
    this.exchanges.reset(exchanges);
    this.accounts.reset(accounts);
  }

  symbol(securityId: number | null): string {
    if (securityId === null) return '';
    return this.securities.row(securityId)?.symbol ?? `#${securityId}`;
  }

  accountName(accountId: number): string {
    return this.accounts.row(accountId)?.name ?? `#${accountId}`;
  }

  exchangeCode(exchangeId: number): string {
    return this.exchanges.row(exchangeId)?.code ?? `#${exchangeId}`;
  }

  strategyName(strategyId: number): string {
    return this.strategies.row(strategyId)?.name ?? `#${strategyId}`;
  }

  priceDigits(securityId: number | null): number {
    const security = securityId === null ? undefined : this.securities.row(securityId);
    const step = security?.priceIncr ?? this.families.row(security?.securityFamilyId ?? 0)?.priceIncr;
    return step ? placesOf(step) : PRICE_DIGITS_DEFAULT;
  }

  search(query: string): Promise<SecurityVO[]> {
    return this.server.search(query);
  }
}

function placesOf(step: number): number {
  for (let places = 0; places < PRICE_DIGITS_MAX; places += 1) {
    if (Number(step.toFixed(places)) === step) return places;
  }
  return PRICE_DIGITS_MAX;
}
