/**
 * Reference data: securities, families, exchanges and accounts. Securities may be many: they are loaded by pages, after the first
 * time only what changed, and changes arrive on their topic. The others are loaded again at every reconnect, families and exchanges
 * also when a security names one that is not known.
 */

import { securityChange } from '../wire/decoders';
import { WireError } from '../wire/error';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { AccountVO, ExchangeVO, SecurityChangeVO, SecurityFamilyVO, SecurityVO, StrategyVO } from '../wire/types';
import type { Reference, Table } from './api';
import { Join, type JoinTools } from './join';
import { Rows } from './table';

/** Places of a price where no tick size is known. */
const PRICE_DIGITS_DEFAULT = 2;
const PRICE_DIGITS_MAX = 8;

/** The server does not know all changes since the sequence that was asked for. */
const FORGOTTEN = 410;

type Source = Pick<Server, 'securityChanges' | 'families' | 'exchanges' | 'accounts' | 'search'>;

export interface ReferenceTools extends JoinTools {
  server: Source;
  strategies: Table<number, StrategyVO>;
}

export class ReferenceData implements Reference {
  readonly securities: Rows<number, SecurityVO>;
  readonly families: Rows<number, SecurityFamilyVO>;
  readonly exchanges: Rows<number, ExchangeVO>;
  readonly accounts: Rows<number, AccountVO>;

  /** Everything up to this sequence is in `securities`; 0 = nothing is. */
  private knownThrough = 0;
  /** Names of families and exchanges that were asked for since the last connection: what the server does not have either is not
   * asked for with every change. `null` until they are loaded. */
  private asked: Set<string> | null = null;
  private onListed: () => void = () => {};
  private readonly listed = new Promise<void>((resolve) => (this.onListed = resolve));

  constructor(private readonly tools: ReferenceTools) {
    const { clock } = tools;
    this.securities = new Rows(clock, (row) => row.id);
    this.families = new Rows(clock, (row) => row.id);
    this.exchanges = new Rows(clock, (row) => row.id);
    this.accounts = new Rows(clock, (row) => row.id);
    new Join(
      {
        topic: topics.securities,
        decoder: securityChange,
        snapshot: () => this.loadSecurities(),
        reset: (changes: SecurityChangeVO[]) => this.onLoaded(changes),
        apply: (change) => this.apply(change),
      },
      tools,
    );
  }

  async load(): Promise<void> {
    const { server } = this.tools;
    const [families, exchanges, accounts] = await Promise.all([server.families(), server.exchanges(), server.accounts(), this.listed]);
    this.families.reset(families);
    this.exchanges.reset(exchanges);
    this.accounts.reset(accounts);
    this.asked = new Set();
  }

  /** Where the request fails, the next reconnect loads them. */
  private async loadUnknown({ securityFamilyId, exchangeId }: SecurityVO): Promise<void> {
    const { asked } = this;
    const unknown = [];
    if (!this.families.row(securityFamilyId)) unknown.push(`family ${securityFamilyId}`);
    if (!this.exchanges.row(exchangeId)) unknown.push(`exchange ${exchangeId}`);
    if (!asked || unknown.every((name) => asked.has(name))) return;
    for (const name of unknown) asked.add(name);
    const { server } = this.tools;
    // Answers may overtake each other, so none takes anything away.
    for (const family of await server.families()) this.families.upsert(family);
    for (const exchange of await server.exchanges()) this.exchanges.upsert(exchange);
  }

  private async loadSecurities() {
    try {
      return await this.tools.server.securityChanges(this.knownThrough);
    } catch (error) {
      // The next try loads all.
      if (error instanceof WireError && error.status === FORGOTTEN) this.knownThrough = 0;
      throw error;
    }
  }

  private onLoaded(changes: SecurityChangeVO[]): void {
    if (!this.knownThrough) this.securities.reset([]);
    for (const change of changes) this.apply(change);
    this.knownThrough = changes.at(-1)?.sequence ?? this.knownThrough;
    this.onListed();
  }

  private apply({ sequence, securityId, security }: SecurityChangeVO): void {
    if (security) {
      this.securities.upsert(security);
      this.loadUnknown(security).catch(() => undefined);
    } else this.securities.remove(securityId);
    // Others of the same sequence may follow, or be lost with the connection.
    this.knownThrough = sequence - 1;
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
    return this.tools.strategies.row(strategyId)?.name ?? `#${strategyId}`;
  }

  priceDigits(securityId: number | null): number {
    const security = securityId === null ? undefined : this.securities.row(securityId);
    const step = security?.priceIncr ?? this.families.row(security?.securityFamilyId ?? 0)?.priceIncr;
    return step ? placesOf(step) : PRICE_DIGITS_DEFAULT;
  }

  search(query: string): Promise<SecurityVO[]> {
    return this.tools.server.search(query);
  }
}

function placesOf(step: number): number {
  for (let places = 0; places < PRICE_DIGITS_MAX; places += 1) {
    if (Number(step.toFixed(places)) === step) return places;
  }
  return PRICE_DIGITS_MAX;
}
