/** Administration calls: each method is one call of the server. */

import type { Server } from '../wire/server';
import type { Administration } from './api';

export function administrationOf(server: Server): Administration {
  return {
    users: server.users,
    addUser: server.addUser,
    setUserRights: server.setUserRights,
    removeUser: server.removeUser,
    tokens: server.tokens,
    makeToken: server.makeToken,
    setTokenRights: server.setTokenRights,
    revokeToken: server.revokeToken,
    audit: server.audit,
    parameters: server.parameters,
    resetPositions: server.resetPositions,
    resetCash: server.resetCash,
    reloadReference: server.reloadReference,
    shutDown: server.shutDown,
  };
}
