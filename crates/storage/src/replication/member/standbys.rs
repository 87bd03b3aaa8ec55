//! Standbys: followers that tell the leader how far their own journals are, so that nothing counts before enough of them have it.
//!
//! A report goes beside the log and may be lost or late. It can only say too little: it names the epoch and the process that it
//! follows, and its journal had the records, synced, before it was sent.
//!
//! ```text
//! magic [4] · member [8] · leader [16] · epoch u64 · position u64 · sequence u64 · checksum u32
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::trimming::{SlowestFollower, TrimSettings};
use crate::bytes::field;
use crate::journal::ReleaseGate;
use crate::replication::types::{CandidateId, Epoch, LogPosition, MemberId};

const MAGIC: [u8; 4] = *b"RSBY";
const REPORT_BYTES: usize = 56;
const CHECKSUM_AT: usize = REPORT_BYTES - 4;

/// A record that has waited for a standby for longer is a problem; before, it is on its way.
const LATE_AFTER: Duration = Duration::from_secs(1);
/// A follower that was not heard of for longer does not count as one that follows. Reports come once a second and with each pulse.
const HEARD_WITHIN: Duration = Duration::from_secs(5);

/// What a follower says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandbyReport {
    pub member: MemberId,
    /// Whom it follows.
    pub leader: CandidateId,
    pub epoch: Epoch,
    /// The last entry of the log that it has read.
    pub position: LogPosition,
    /// The last record that its own journal has on disk and the log has proved.
    pub sequence: u64,
}

impl StandbyReport {
    pub fn encode(&self) -> Vec<u8> {
        let numbers = [self.epoch.0, self.position.0, self.sequence].map(u64::to_le_bytes).concat();
        let mut bytes = [&MAGIC[..], &self.member.0, &self.leader.0, &numbers].concat();
        let checksum = crc32c::crc32c(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// None where the bytes are no report.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let is_whole = bytes.len() == REPORT_BYTES && bytes[..4] == MAGIC;
        if !is_whole || crc32c::crc32c(&bytes[..CHECKSUM_AT]) != u32::from_le_bytes(field(bytes, CHECKSUM_AT)) {
            return None;
        }
        let number = |at: usize| u64::from_le_bytes(field(bytes, at));
        Some(Self {
            member: MemberId(field(bytes, 4)),
            leader: CandidateId(field(bytes, 12)),
            epoch: Epoch(number(28)),
            position: LogPosition(number(36)),
            sequence: number(44),
        })
    }
}

/// What a leader knows of its standbys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandbyState {
    /// So many must have a record before it counts.
    pub required: usize,
    /// Followers that were heard of lately.
    pub following: usize,
    /// Records that this disk and the log have, and too few standbys.
    pub records_waiting: u64,
    /// Why nothing counts, where records have waited for too long.
    pub problem: Option<String>,
    /// Whether enough of them have everything that was there when the lead began.
    pub is_open: bool,
}

/// The followers of a leader.
#[derive(Default)]
pub(crate) struct Standbys {
    required: usize,
    lead: Option<(Epoch, CandidateId)>,
    lead_began: Option<Instant>,
    gate: Option<Arc<ReleaseGate>>,
    heard: BTreeMap<MemberId, HeardStandby>,
}

#[derive(Debug, Clone, Copy)]
struct HeardStandby {
    sequence: u64,
    position: LogPosition,
    at: Instant,
}

impl Standbys {
    pub(crate) fn new(required: usize) -> Self {
        Self { required, ..Self::default() }
    }

    pub(crate) fn is_required(&self) -> bool {
        self.required > 0
    }

    pub(crate) fn begin_lead(&mut self, epoch: Epoch, candidate: CandidateId, gate: Option<Arc<ReleaseGate>>) {
        (self.lead, self.gate, self.lead_began) = (Some((epoch, candidate)), gate, Some(Instant::now()));
        self.heard.clear();
    }

    /// The newest report of a member counts: a folder that was begun anew has less than before.
    pub(crate) fn confirm(&mut self, report: &StandbyReport, at: Instant) -> bool {
        if self.lead != Some((report.epoch, report.leader)) {
            return false;
        }
        self.heard.insert(report.member, HeardStandby { sequence: report.sequence, position: report.position, at });
        if let (Some(gate), Some(sequence)) = (&self.gate, self.confirmed()) {
            gate.confirm(sequence);
        }
        true
    }

    /// What enough of them have; none where they are too few.
    fn confirmed(&self) -> Option<u64> {
        let mut sequences: Vec<_> = self.heard.values().map(|standby| standby.sequence).collect();
        sequences.sort_unstable_by(|one, other| other.cmp(one));
        sequences.get(self.required.checked_sub(1)?).copied()
    }

    /// How far all followers are of which the log may lose nothing.
    pub(crate) fn slowest(&self, settings: &TrimSettings, now: Instant) -> SlowestFollower {
        let Some(began) = self.lead_began else {
            return settings
                .followers
                .first()
                .map_or(SlowestFollower::Nobody, |first| SlowestFollower::Unknown(*first));
        };
        let is_absent =
            |since: Instant| settings.absent_after.is_some_and(|limit| now.saturating_duration_since(since) > limit);
        let mut slowest = SlowestFollower::Nobody;
        for member in &settings.followers {
            match (self.heard.get(member), slowest) {
                (None, _) if is_absent(began) => {}
                (None, _) => return SlowestFollower::Unknown(*member),
                (Some(heard), _) if is_absent(heard.at) => {}
                (Some(heard), SlowestFollower::At(least, _)) if heard.position >= least => {}
                (Some(heard), _) => slowest = SlowestFollower::At(heard.position, *member),
            }
        }
        slowest
    }

    pub(crate) fn give_up(&self, after: Duration) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.give_up(after))
    }

    pub(crate) fn state(&self, now: Instant) -> StandbyState {
        let held = self.gate.as_ref().and_then(|gate| gate.held());
        let is_heard = |standby: &&HeardStandby| now.saturating_duration_since(standby.at) <= HEARD_WITHIN;
        let following = self.heard.values().filter(is_heard).count();
        let problem = held.filter(|held| held.waited >= LATE_AFTER).map(|held| {
            let (required, released, committed) = (self.required, held.released, held.committed);
            format!("no standby has the last record: {committed} waits, {released} was confirmed; {following} of {required} follow")
        });
        StandbyState {
            required: self.required,
            following,
            records_waiting: held.map_or(0, |held| held.committed.saturating_sub(held.released)),
            problem,
            is_open: self.gate.as_ref().is_none_or(|gate| gate.is_open()),
        }
    }
}

impl std::fmt::Debug for Standbys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standbys").field("required", &self.required).field("heard", &self.heard).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEADER: CandidateId = CandidateId([9; 16]);

    fn report(member: u8, sequence: u64) -> StandbyReport {
        let (member, position) = (MemberId([member; 8]), LogPosition(sequence + 1));
        StandbyReport { member, leader: LEADER, epoch: Epoch(3), position, sequence }
    }

    #[test]
    fn a_report_is_read_as_it_was_written_and_every_flipped_bit_is_seen() {
        let bytes = report(1, 7).encode();
        assert_eq!(StandbyReport::decode(&bytes), Some(report(1, 7)));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(StandbyReport::decode(&flipped), None, "{bit}");
        }
        (0..bytes.len()).for_each(|length| assert_eq!(StandbyReport::decode(&bytes[..length]), None, "{length}"));
    }

    #[test]
    fn as_many_members_as_are_required_must_have_a_record() {
        let (mut standbys, now) = (Standbys::new(2), Instant::now());
        assert!(!standbys.confirm(&report(1, 7), now), "nobody leads yet");
        standbys.begin_lead(Epoch(3), LEADER, None);
        assert!(standbys.confirm(&report(1, 7), now));
        assert!(standbys.confirm(&report(1, 8), now));
        assert_eq!(standbys.confirmed(), None, "one member twice is one");
        standbys.confirm(&report(2, 5), now);
        assert_eq!(standbys.confirmed(), Some(5));
        standbys.confirm(&report(3, 9), now);
        assert_eq!((standbys.confirmed(), standbys.state(now).following), (Some(8), 3));
        assert_eq!(standbys.state(now + HEARD_WITHIN * 2).following, 0);
    }

    #[test]
    fn the_slowest_follower_counts_until_it_is_absent_for_too_long() {
        let (mut standbys, followers) = (Standbys::new(1), [1, 2].map(|member| MemberId([member; 8])).into());
        let settings = TrimSettings { followers, absent_after: Some(Duration::from_secs(60)), ..Default::default() };
        let now = Instant::now();
        assert_eq!(standbys.slowest(&settings, now), SlowestFollower::Unknown(MemberId([1; 8])), "nobody leads");
        standbys.begin_lead(Epoch(3), LEADER, None);
        standbys.confirm(&report(1, 7), now);
        assert_eq!(standbys.slowest(&settings, now), SlowestFollower::Unknown(MemberId([2; 8])));
        standbys.confirm(&report(2, 5), now);
        assert_eq!(standbys.slowest(&settings, now), SlowestFollower::At(LogPosition(6), MemberId([2; 8])));
        let later = now + Duration::from_secs(61);
        standbys.confirm(&report(1, 9), later);
        assert_eq!(standbys.slowest(&settings, later), SlowestFollower::At(LogPosition(10), MemberId([1; 8])));
        assert_eq!(standbys.slowest(&TrimSettings::default(), now), SlowestFollower::Nobody);
    }

    #[test]
    fn who_follows_another_lead_proves_nothing() {
        let (mut standbys, now) = (Standbys::new(1), Instant::now());
        standbys.begin_lead(Epoch(3), LEADER, None);
        for (epoch, leader) in [(2, LEADER), (4, LEADER), (3, CandidateId([8; 16]))] {
            assert!(!standbys.confirm(&StandbyReport { epoch: Epoch(epoch), leader, ..report(1, 7) }, now));
        }
        assert_eq!(standbys.confirmed(), None);
    }
}
