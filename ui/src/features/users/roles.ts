/** Which roles a new user or token may have. */

import type { Role, UserVO } from '../../wire/types';

const ROLES: readonly Role[] = ['VIEWER', 'TRADER', 'STRATEGY', 'ADMIN'];

export interface Offer {
  roles: readonly Role[];
  /** The default role. */
  usual: Role;
  isAdminNeeded: boolean;
}

/** From the first user on a login is required: without an admin the server could no longer be administered. */
export function rolesFor(kind: 'user' | 'token', users: readonly UserVO[]): Offer {
  const isAdminNeeded = kind === 'user' && users.every(({ role }) => role !== 'ADMIN');
  return isAdminNeeded ? { roles: ['ADMIN'], usual: 'ADMIN', isAdminNeeded } : { roles: ROLES, usual: 'TRADER', isAdminNeeded };
}
