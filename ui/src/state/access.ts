/** Who sits here, and what the role allows. */

import { WireError } from '../wire/error';
import type { Server } from '../wire/server';
import type { IdentityVO, Role } from '../wire/types';
import type { Access, Clock } from './api';
import { Cell } from './readable';

const RETRY_AFTER_MS = 2_000;
const UNAUTHORIZED = 401;
/** Each role may also do what those before it may; a strategy is a trader in one name. */
const RANK: Record<Role, number> = { VIEWER: 0, STRATEGY: 1, TRADER: 1, ADMIN: 2 };

export class Entrance implements Access {
  readonly identity = new Cell<IdentityVO | null>(null);
  readonly phase = new Cell<'asking' | 'in' | 'out'>('asking');

  constructor(
    private readonly server: Pick<Server, 'identity' | 'login' | 'logout'>,
    private readonly clock: Clock,
  ) {}

  /** Asks the server who we are; one that cannot be reached is asked again. */
  async ask(): Promise<void> {
    try {
      this.enter(await this.server.identity());
    } catch (error) {
      if (error instanceof WireError && error.status === UNAUTHORIZED) this.expire();
      else this.clock.after(RETRY_AFTER_MS, () => void this.ask());
    }
  }

  async login(user: string, password: string): Promise<void> {
    this.enter(await this.server.login(user, password));
  }

  async logout(): Promise<void> {
    await this.server.logout();
    this.expire();
    // Where nobody needs to log in, one is somebody again at once.
    await this.ask();
  }

  /** The server no longer knows us. */
  expire(): void {
    this.identity.set(null);
    this.phase.set('out');
  }

  may(role: Role): boolean {
    const identity = this.identity.get();
    return identity !== null && RANK[identity.role] >= RANK[role];
  }

  private enter(identity: IdentityVO): void {
    this.identity.set(identity);
    this.phase.set('in');
  }
}
