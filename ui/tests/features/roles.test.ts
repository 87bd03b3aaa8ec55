import { expect, test } from 'vitest';
import { rolesFor } from '../../src/features/users/roles';
import type { UserVO } from '../../src/wire/types';

const user = (name: string, role: UserVO['role']): UserVO => ({ name, role, strategy: null, created: 0, accounts: null, securities: null, interfaces: null });

test('while no user is an admin the next must be one, so that the server can be administered', () => {
  const admin = { roles: ['ADMIN'], usual: 'ADMIN', isAdminNeeded: true };
  expect([rolesFor('user', []), rolesFor('user', [user('vera', 'VIEWER')])]).toEqual([admin, admin]);
});

test('beside an admin there are all roles, and for a token always', () => {
  const all = { roles: ['VIEWER', 'TRADER', 'STRATEGY', 'ADMIN'], usual: 'TRADER', isAdminNeeded: false };
  expect([rolesFor('user', [user('boss', 'ADMIN')]), rolesFor('token', [])]).toEqual([all, all]);
});
