/** The cluster: read again and again by a member, never by a server that is alone, and never silently old. */

import { expect, test } from 'vitest';
import { clusterTone, digestWords, isSilent, lagWords, memberNote, memberTone, ownLag, staleFor } from '../../src/features/common/cluster';
import { ClusterStore } from '../../src/state/cluster';
import { ENGLISH } from '../../src/texts';
import { formatsOf } from '../../src/texts/formats';
import type { ClusterMemberVO, ClusterOverviewVO } from '../../src/wire/types';
import { settle, VirtualClock } from '../virtual';

const words = ENGLISH.cluster;
const formats = formatsOf({ locale: 'en-GB', timeZone: 'UTC' });

const follower: ClusterMemberVO = {
  name: 'b',
  address: 'http://10.0.0.2:9090',
  own: true,
  ageMillis: 0,
  role: 'follower',
  eligible: true,
  epoch: 3,
  entry: 4_711,
  lagMillis: 40,
  lease: false,
  problem: null,
  mayNotLead: null,
  digestSequence: 8_000,
  digestAgeMillis: 2_500,
  standbysRequired: null,
  standbys: null,
};
const leader: ClusterMemberVO = {
  ...follower,
  name: 'a',
  address: 'http://10.0.0.1:9090',
  own: false,
  ageMillis: 300,
  role: 'leader',
  lagMillis: null,
  lease: true,
  digestSequence: null,
  digestAgeMillis: null,
  standbysRequired: 1,
  standbys: 1,
};
const silent: ClusterMemberVO = { ...leader, name: 'c', ageMillis: null, role: null, eligible: null, epoch: null, entry: null, lease: null };

const overview = (change: Partial<ClusterOverviewVO> = {}): ClusterOverviewVO => ({
  member: 'b',
  role: 'follower',
  epoch: 3,
  leader: 'a',
  gate: 'OPEN',
  gateReason: null,
  lead: null,
  log: null,
  members: [leader, follower, silent],
  ...change,
});

function storeOf(answers: (ClusterOverviewVO | Error)[]) {
  const clock = new VirtualClock();
  let calls = 0;
  const cluster = async () => {
    const answer = answers[Math.min(calls++, answers.length - 1)];
    if (answer instanceof Error || answer === undefined) throw answer;
    return answer;
  };
  return { clock, store: new ClusterStore({ cluster }, clock), calls: () => calls };
}

test('a server alone is asked once at each connect, and shows nothing', async () => {
  const { clock, store, calls } = storeOf([overview({ member: null, role: 'alone', members: [] })]);
  await store.load();
  clock.advance(60_000);
  await settle();
  expect([store.state.get(), store.isMember.get(), calls()]).toEqual([null, false, 1]);
});

test('a member is read every two seconds, and what cannot be read stays with its age', async () => {
  const { clock, store, calls } = storeOf([overview(), overview({ leader: 'b' }), new Error('gone')]);
  await store.load();
  clock.advance(2_000);
  await settle();
  expect([store.isMember.get(), store.state.get()?.overview.leader, calls()]).toEqual([true, 'b', 2]);
  const read = clock.now();
  for (let reading = 0; reading < 4; reading += 1) {
    clock.advance(2_000);
    await settle();
  }
  const state = store.state.get();
  expect([state?.overview.leader, state?.at, calls()]).toEqual(['b', read, 6]);
  expect(state && [staleFor(state, read + 6_000), staleFor(state, clock.now()), clusterTone(state, clock.now())]).toEqual([null, 8_000, 'warn']);
});

test('the light is red where orders are not acknowledged, and yellow where that is not known or this member is late', () => {
  const at = 1_000_000;
  const tone = (change: Partial<ClusterOverviewVO>, now = at) => clusterTone({ overview: overview(change), at }, now);
  expect([tone({}), tone({ role: 'leader', member: 'a' }), tone({ gate: 'SHUT', gateReason: 'no majority' }), tone({ leader: null }), tone({ gate: 'UNKNOWN' })]).toEqual(
    ['wait', 'ok', 'bad', 'bad', 'warn'],
  );
  expect(tone({ members: [{ ...follower, lagMillis: 5_001 }] })).toBe('warn');
  const state = { overview: overview(), at };
  expect([ownLag(state, at), ownLag(state, at + 4_500), ownLag({ overview: overview({ role: 'leader' }), at }, at)]).toEqual([40, 4_540, null]);
});

test('each member has its tone, its note and the record at which its state was compared', () => {
  const state = { overview: overview(), at: 1_000_000 };
  const writing = { ...follower, mayNotLead: 'it writes a snapshot' };
  const never = { ...follower, eligible: false, mayNotLead: 'its cluster file has eligible = false' };
  const tones = [leader, follower, silent, { ...leader, lease: false }, { ...follower, problem: 'the log does not answer' }, writing, never];
  expect(tones.map((member) => memberTone(state, member, state.at))).toEqual(['ok', 'ok', 'bad', 'bad', 'bad', 'warn', 'ok']);
  expect([isSilent(state, leader, state.at), isSilent(state, leader, state.at + 3_701)]).toEqual([false, true]);
  expect([follower, { ...leader, lease: false }, never, writing].map((member) => memberNote(member, words))).toEqual([
    '',
    words.noLease,
    words.notEligible,
    'may not lead: it writes a snapshot',
  ]);
  const digest = (member: ClusterMemberVO) => digestWords(state, member, state.at, words, formats);
  expect([digest(follower), digest(leader), digest({ ...follower, digestSequence: null })]).toEqual(['at record 8,000, 2 s ago', '', words.digestNone]);
  expect([lagWords(40, formats), lagWords(9_999, formats), lagWords(12_000, formats)]).toEqual(['40 ms', '9,999 ms', '12 s']);
});
