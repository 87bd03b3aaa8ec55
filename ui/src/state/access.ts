/** Session of the user at this screen: identity, login and logout, and what the role allows. */

import { WireError } from '../wire/error';
import type { Server } from '../wire/server';
import type { IdentityVO, Role } from '../wire/types';
import type { Access, Clock } from './api';
import { Cell } from './readable';

const RETRY_AFTER_MS = 2_000;
const UNAUTHORIZED = 401;
const SESSION_ENDED = 'session-ended';
/** Each role includes the rights of the roles below it; a strategy is a trader for one strategy. */
const RANK: Record<Role, number> = { VIEWER: 0, STRATEGY: 1, TRADER: 1, ADMIN: 2 };

export class Session implements Access {
  readonly identity = new Cell<IdentityVO | null>(null);
  readonly phase = new Cell<'asking' | 'in' | 'out'>('asking');
  readonly isEnded = new Cell(false);

  constructor(
    private readonly server: Pick<Server, 'identity' | 'login' | 'logout'>,
    private readonly clock: Clock,
    /** Runs before the logout, while the session is still valid. */
    private readonly beforeLogout: () => Promise<void> = async () => undefined,
  ) {}

  /** Queries the identity of this session; retries while the server cannot be reached. */
  async identify(): Promise<void> {
    try {
      this.enter(await this.server.identity());
    } catch (error) {
      if (error instanceof WireError && error.status === UNAUTHORIZED) this.expire(error.code === SESSION_ENDED);
      else this.clock.after(RETRY_AFTER_MS, () => void this.identify());
    }
  }

  async login(user: string, password: string): Promise<void> {
    this.enter(await this.server.login(user, password));
  }

  async logout(): Promise<void> {
    await this.beforeLogout();
    await this.server.logout();
    this.isEnded.set(false);
    this.leave();
    // A server without logins gives an identity again at once.
    await this.identify();
  }

  /** The server refused the session. A user who was logged in, or had a session, sees that it ended. */
  expire(hadSession = false): void {
    if (hadSession || this.identity.get() !== null) this.isEnded.set(true);
    this.leave();
  }

  may(role: Role): boolean {
    const identity = this.identity.get();
    return identity !== null && RANK[identity.role] >= RANK[role];
  }

  private leave(): void {
    this.identity.set(null);
    this.phase.set('out');
  }

  private enter(identity: IdentityVO): void {
    this.isEnded.set(false);
    this.identity.set(identity);
    this.phase.set('in');
  }
}
