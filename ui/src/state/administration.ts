/** What admins do; each call is one of the server's. */

import type { Server } from '../wire/server';
import type { Administration } from './api';

export function administrationOf(server: Server): Administration {
  return {
    users: server.users,
    addUser: server.addUser,
    removeUser: server.removeUser,
    tokens: server.tokens,
    makeToken: server.makeToken,
    revokeToken: server.revokeToken,
    audit: server.audit,
    parameters: server.parameters,
    resetPositions: server.resetPositions,
    resetCash: server.resetCash,
    reloadReference: server.reloadReference,
    shutDown: server.shutDown,
  };
}
