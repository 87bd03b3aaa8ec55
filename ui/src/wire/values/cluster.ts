/** Value objects of a cluster: who leads, and each member as it has told of itself. */

import { type Decoded, flag, list, maybe, number, object, oneOf, text } from '../decode';
import { maybeNumber, maybeText } from './names';

const memberRole = oneOf('leader', 'follower');

const clusterLead = object({
  epoch: number,
  since: number,
  cause: oneOf('FIRST', 'HAND_OVER', 'FAIL_OVER'),
  before: maybeText,
  openAfterMillis: maybeNumber,
});

const clusterLog = object({
  servers: number,
  current: number,
  majority: flag,
  leader: maybeText,
  ageMillis: number,
  problem: maybeText,
});

export const clusterMember = object({
  name: text,
  address: text,
  own: flag,
  ageMillis: maybeNumber,
  role: maybe(memberRole),
  eligible: maybe(flag),
  epoch: maybeNumber,
  entry: maybeNumber,
  lagMillis: maybeNumber,
  lease: maybe(flag),
  problem: maybeText,
  mayNotLead: maybeText,
  digestSequence: maybeNumber,
  digestAgeMillis: maybeNumber,
  standbysRequired: maybeNumber,
  standbys: maybeNumber,
});
export type ClusterMemberVO = Decoded<typeof clusterMember>;

export const clusterOverview = object({
  member: maybeText,
  role: oneOf('alone', 'leader', 'follower'),
  epoch: maybeNumber,
  leader: maybeText,
  gate: oneOf('OPEN', 'SHUT', 'UNKNOWN'),
  gateReason: maybeText,
  lead: maybe(clusterLead),
  log: maybe(clusterLog),
  members: list(clusterMember),
});
export type ClusterOverviewVO = Decoded<typeof clusterOverview>;
