/** The cluster in words: ages go on counting, and what was not heard of lately is not taken for true. */

import type { ClusterState } from '../../state/api';
import type { Tone } from '../../state/tones';
import type { Texts } from '../../texts';
import type { Formats } from '../../texts/formats';
import type { ClusterMemberVO } from '../../wire/types';

/** Read less often than this, in milliseconds, it may have changed: two readings were missed. */
const STALE_AFTER_MS = 6_000;
/** A member tells of itself once a second; one that was not heard of for longer, in milliseconds, may be gone. */
const SILENT_AFTER_MS = 4_000;
/** A follower that is further behind, in milliseconds, is not ready. */
const LAG_MAX_MS = 5_000;

/** How long ago the cluster was read, in milliseconds, where that is too long. */
export function staleFor(state: ClusterState, now: number): number | null {
  return now - state.at > STALE_AFTER_MS ? now - state.at : null;
}

/** An age of the reading, now. */
export function grown(state: ClusterState, millis: number | null, now: number): number | null {
  return millis === null ? null : millis + Math.max(0, now - state.at);
}

export function ownMember({ overview }: ClusterState): ClusterMemberVO | null {
  return overview.members.find(({ own }) => own) ?? null;
}

export function lagWords(millis: number, formats: Formats): string {
  return millis < 10_000 ? `${formats.quantity(Math.round(millis))} ms` : formats.age(millis);
}

/** As a member said; one that is silent is later by all the time since then. */
export function memberLag(state: ClusterState, member: ClusterMemberVO, now: number): number | null {
  const silence = isSilent(state, member, now) ? (grown(state, member.ageMillis, now) ?? 0) : 0;
  return member.lagMillis === null ? null : member.lagMillis + silence;
}

/** The lag of the member of this screen; `null` of a leader. */
export function ownLag(state: ClusterState, now: number): number | null {
  const own = ownMember(state);
  return state.overview.role === 'leader' || own === null ? null : memberLag(state, own, now);
}

export function clusterTone(state: ClusterState, now: number): Tone {
  const { gate, leader } = state.overview;
  if (gate === 'SHUT' || leader === null) return 'bad';
  if (gate === 'UNKNOWN' || staleFor(state, now) !== null || (ownLag(state, now) ?? 0) > LAG_MAX_MS) return 'warn';
  return state.overview.role === 'leader' ? 'ok' : 'wait';
}

export function isSilent(state: ClusterState, member: ClusterMemberVO, now: number): boolean {
  const age = grown(state, member.ageMillis, now);
  return age === null || age > SILENT_AFTER_MS;
}

export function memberTone(state: ClusterState, member: ClusterMemberVO, now: number): Tone {
  if (isSilent(state, member, now)) return 'bad';
  if (member.problem !== null || (member.role === 'leader' && member.lease === false)) return 'bad';
  if ((memberLag(state, member, now) ?? 0) > LAG_MAX_MS) return 'warn';
  // One that is not eligible never leads: nothing is to be done.
  return member.eligible === true && member.mayNotLead !== null ? 'warn' : 'ok';
}

/** What a member must be looked at for. */
export function memberNote(member: ClusterMemberVO, words: Texts['cluster']): string {
  if (member.problem !== null) return member.problem;
  if (member.role === 'leader' && member.lease === false) return words.noLease;
  if (member.eligible === false) return words.notEligible;
  return member.mayNotLead === null ? '' : words.mayNotLead(member.mayNotLead);
}

/** Up to which record a follower had the leader's state. */
export function digestWords(state: ClusterState, member: ClusterMemberVO, now: number, words: Texts['cluster'], formats: Formats): string {
  if (member.role !== 'follower') return '';
  const age = grown(state, member.digestAgeMillis, now);
  if (member.digestSequence === null || age === null) return words.digestNone;
  return words.digestAt(formats.quantity(member.digestSequence), formats.age(age));
}
