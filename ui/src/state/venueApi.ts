/** The interfaces of the stores about venues and members: sessions and lines, differences between books, and the cluster. */

import type { AdapterVO, BreakVO, ClusterOverviewVO, Comparison, FixSessionVO, Health, LineVO, OpenFor, OrderMode, SessionEvent, VenueProof } from '../wire/types';
import type { Freshness, Readable, Stop, Table } from './api';

/** Session of an adapter. `dateTime` is `null` where the session was established before this screen connected. */
export interface AdapterSession extends Omit<SessionEvent, 'dateTime'> {
  dateTime: number | null;
}

/** Where orders go and prices come from: one for each session that an active account names. */
export interface Venue {
  /** As prices name it: `SIMULATED-ALPHA`. */
  key: string;
  /** As the screen shows it: `ALPHA`. */
  name: string;
  isAway: boolean;
  openFor: OpenFor;
  lines: LineVO[];
  /** `null` before the adapter has been read, as `proof`. */
  orders: OrderMode | null;
  proof: VenueProof | null;
}

/** Sessions of the server with venues and FIX clients, and its health. */
export interface Sessions {
  /** Those to venues; clients that trade by FIX are in `fix`. Key: adapter and qualifier, `SIMULATED-ALPHA`. */
  adapters: Table<string, AdapterSession>;
  /** What each adapter says of its lines and its venue; read at each connect and while it is looked at. */
  details: Table<string, AdapterVO>;
  venues: Readable<readonly Venue[]>;
  /** Whether the venue of this feed is away. */
  isAway(feed: string): boolean;
  fix: Table<string, FixSessionVO>;
  health: Readable<Health | null>;
  /** Polls `fix` and `health` until the returned function is called. */
  look(): Stop;
  logoutFix(id: string): Promise<void>;
  resetFix(id: string): Promise<void>;
}

/** Differences between the books here and those of a venue. Not filtered by the strategy selector: books belong to an account. */
export interface Breaks {
  open: Table<string, BreakVO>;
  /** Open ones, and those that were settled since yesterday. */
  all: Table<string, BreakVO>;
  openCount: Readable<number>;
  freshness: Readable<Freshness>;
  /** How long ago each venue was compared, and what of it. */
  comparisons(): Promise<Comparison[]>;
  /** Settles a break without a booking: the difference has a known cause. */
  explain(id: string, comment: string): Promise<void>;
  /** Settles a break without a booking: the difference stays. */
  accept(id: string, comment: string): Promise<void>;
  /** Takes the side of the venue. */
  repair(id: string, comment: string): Promise<void>;
}

/** The cluster as the server of this screen knew it at a time, in epoch milliseconds. Ages in it are of that time. */
export interface ClusterState {
  overview: ClusterOverviewVO;
  at: number;
}

/** The cluster that the server of this screen is a member of. */
export interface Cluster {
  /** `null` where the server is alone, or has not said yet. */
  state: Readable<ClusterState | null>;
  isMember: Readable<boolean>;
}
