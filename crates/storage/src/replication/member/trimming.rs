//! Trimming of the log by its leader: how much of it stays, and what no follower lacks.
//!
//! A log begins with a mark. The leader writes one from time to time, and remembers how many entries and bytes stand behind each. It
//! trims at the newest mark behind which everything stands that a limit keeps, and that every follower has read. A follower reads
//! an entry into its journal, synced, so that after a power cut it finds its place at the mark again, whatever its cursor file says.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use crate::replication::types::{LogPosition, MemberId};

/// So many marks for each limit, so that at most an eighth more than the limit stays.
const MARKS_PER_LIMIT: u32 = 8;
/// Marks that are remembered while followers hold the log; then every second one is forgotten, and they are written half as often.
const MARKS_MAX: usize = 64;
/// Between two attempts after one that failed.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// What a leader keeps of the log. An entry stays as long as one of the limits keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrimSettings {
    pub keep_entries: Option<u64>,
    pub keep_bytes: Option<u64>,
    pub keep_for: Option<Duration>,
    /// What one of them lacks stays, too.
    pub followers: BTreeSet<MemberId>,
    /// A follower that was not heard of for longer holds nothing; none where each holds the log for ever.
    pub absent_after: Option<Duration>,
}

/// How far the followers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlowestFollower {
    /// All have read up to here.
    At(LogPosition, MemberId),
    /// One was not heard of in this lead.
    Unknown(MemberId),
    /// None has to be waited for.
    Nobody,
}

/// A place of the log at which it may begin.
#[derive(Debug, Clone, Copy)]
struct KeptMark {
    position: LogPosition,
    /// Bytes that this leader had appended before it.
    bytes_before: u64,
    at: Instant,
}

pub(crate) struct LogTrimmer {
    settings: TrimSettings,
    /// The oldest first; the first one is the epoch record.
    marks: VecDeque<KeptMark>,
    /// Bytes of the entries of this lead.
    bytes: u64,
    /// How many times as far apart as usual marks are now.
    spacing: u32,
    retry_at: Option<Instant>,
}

impl LogTrimmer {
    /// Of a leader whose epoch record is at `position`.
    pub(crate) fn new(settings: TrimSettings, position: LogPosition, now: Instant) -> Self {
        let first = KeptMark { position, bytes_before: 0, at: now };
        Self { settings, marks: VecDeque::from([first]), bytes: 0, spacing: 1, retry_at: None }
    }

    pub(crate) fn settings(&self) -> &TrimSettings {
        &self.settings
    }

    pub(crate) fn add_entry(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    /// Whether a mark should follow the entry at `position`.
    pub(crate) fn is_mark_due(&self, position: LogPosition, now: Instant) -> bool {
        let Some(last) = self.marks.back() else { return true };
        let (entries, bytes, age) = self.behind(last, position, now);
        let part = |limit: u64| (limit / u64::from(MARKS_PER_LIMIT)).max(1).saturating_mul(u64::from(self.spacing));
        entries > 0
            && (self.settings.keep_entries.is_some_and(|limit| entries >= part(limit))
                || self.settings.keep_bytes.is_some_and(|limit| bytes >= part(limit))
                || self.settings.keep_for.is_some_and(|limit| age >= limit / MARKS_PER_LIMIT * self.spacing))
    }

    pub(crate) fn add_mark(&mut self, position: LogPosition, now: Instant) {
        if self.marks.len() >= MARKS_MAX {
            let mut number = 0;
            self.marks.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.spacing = self.spacing.saturating_mul(2);
        }
        self.marks.push_back(KeptMark { position, bytes_before: self.bytes, at: now });
    }

    /// What stands behind a mark.
    fn behind(&self, mark: &KeptMark, end: LogPosition, now: Instant) -> (u64, u64, Duration) {
        let entries = end.0.saturating_sub(mark.position.0);
        (entries, self.bytes.saturating_sub(mark.bytes_before), now.saturating_duration_since(mark.at))
    }

    /// The newest mark that the limits allow the log to begin with.
    fn newest_allowed(&self, end: LogPosition, now: Instant) -> Option<LogPosition> {
        let is_allowed = |mark: &&KeptMark| {
            let (entries, bytes, age) = self.behind(mark, end, now);
            self.settings.keep_entries.is_none_or(|limit| entries >= limit)
                && self.settings.keep_bytes.is_none_or(|limit| bytes >= limit)
                && self.settings.keep_for.is_none_or(|limit| age >= limit)
        };
        self.marks.iter().rev().find(is_allowed).map(|mark| mark.position)
    }

    /// Where the log should begin now: the mark, and the follower that keeps it from beginning later, where one does.
    pub(crate) fn due(
        &self,
        end: LogPosition,
        slowest: SlowestFollower,
        now: Instant,
    ) -> (Option<LogPosition>, Option<MemberId>) {
        let Some(allowed) = self.newest_allowed(end, now) else { return (None, None) };
        let (read, holder) = match slowest {
            SlowestFollower::Nobody => return (self.if_not_tried(Some(allowed), now), None),
            SlowestFollower::At(position, member) => (position, member),
            SlowestFollower::Unknown(member) => (LogPosition::START, member),
        };
        let reached = self.marks.iter().rev().map(|mark| mark.position).find(|mark| *mark <= read.min(allowed));
        (self.if_not_tried(reached, now), (read < allowed).then_some(holder))
    }

    fn if_not_tried(&self, mark: Option<LogPosition>, now: Instant) -> Option<LogPosition> {
        mark.filter(|_| self.retry_at.is_none_or(|at| now >= at))
    }

    /// The log begins there, or could not be trimmed now. The mark that it begins with is not trimmed to again.
    pub(crate) fn set_outcome(&mut self, below: LogPosition, is_trimmed: bool, now: Instant) {
        self.retry_at = (!is_trimmed).then(|| now + RETRY_AFTER);
        if is_trimmed {
            self.marks.retain(|mark| mark.position > below);
            self.spacing = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBER: MemberId = MemberId([1; 8]);

    fn at(position: u64) -> LogPosition {
        LogPosition(position)
    }

    /// A leader whose entries 1 to `end` have a hundred bytes and one second each, marks included.
    fn trimmer(settings: TrimSettings, end: u64) -> (LogTrimmer, Instant) {
        let begin = Instant::now();
        let mut trimmer = LogTrimmer::new(settings, at(1), begin);
        for position in 2..=end {
            let now = begin + Duration::from_secs(position);
            trimmer.add_entry(100);
            if trimmer.is_mark_due(at(position - 1), now) {
                trimmer.add_mark(at(position), now);
            }
        }
        (trimmer, begin + Duration::from_secs(end))
    }

    #[test]
    fn each_limit_keeps_at_least_what_it_says_and_little_more() {
        let limits = [
            TrimSettings { keep_entries: Some(80), ..TrimSettings::default() },
            TrimSettings { keep_bytes: Some(8_000), ..TrimSettings::default() },
            TrimSettings { keep_for: Some(Duration::from_secs(80)), ..TrimSettings::default() },
        ];
        for settings in limits {
            let (trimmer, now) = trimmer(settings.clone(), 500);
            let (due, holder) = trimmer.due(at(500), SlowestFollower::Nobody, now);
            let kept = 500 - due.unwrap().0;
            assert!((80..=80 + 12).contains(&kept), "{settings:?} keeps {kept}");
            assert_eq!(holder, None);
        }
        let both = TrimSettings { keep_entries: Some(80), keep_bytes: Some(30_000), ..TrimSettings::default() };
        let (trimmer, now) = trimmer(both, 500);
        let kept = 500 - trimmer.due(at(500), SlowestFollower::Nobody, now).0.unwrap().0;
        assert!((300..=340).contains(&kept), "the larger one counts: {kept}");
    }

    #[test]
    fn nothing_is_trimmed_that_a_follower_lacks_and_the_one_that_lacks_it_is_named() {
        let settings = TrimSettings { keep_entries: Some(80), ..TrimSettings::default() };
        let (trimmer, now) = trimmer(settings, 1_000);
        let due = |slowest| trimmer.due(at(1_000), slowest, now);
        assert_eq!(due(SlowestFollower::Unknown(MEMBER)), (None, Some(MEMBER)));
        let (mark, holder) = due(SlowestFollower::At(at(700), MEMBER));
        assert_eq!(holder, Some(MEMBER));
        assert!(mark.is_some_and(|mark| mark <= at(700) && mark > at(600)), "{mark:?}");
        assert_eq!(due(SlowestFollower::At(at(1_000), MEMBER)).1, None);
    }

    #[test]
    fn what_was_trimmed_is_not_trimmed_again_and_a_failure_is_tried_later() {
        let settings = TrimSettings { keep_entries: Some(80), ..TrimSettings::default() };
        let (mut trimmer, now) = trimmer(settings, 1_000);
        let mark = trimmer.due(at(1_000), SlowestFollower::Nobody, now).0.unwrap();
        trimmer.set_outcome(mark, false, now);
        assert_eq!(trimmer.due(at(1_000), SlowestFollower::Nobody, now).0, None);
        assert_eq!(trimmer.due(at(1_000), SlowestFollower::Nobody, now + RETRY_AFTER).0, Some(mark));
        trimmer.set_outcome(mark, true, now);
        assert_eq!(trimmer.due(at(1_000), SlowestFollower::Nobody, now).0, None);
    }

    #[test]
    fn a_follower_that_is_away_for_long_costs_no_memory() {
        let settings = TrimSettings { keep_entries: Some(80), ..TrimSettings::default() };
        let (trimmer, now) = trimmer(settings, 100_000);
        assert!(trimmer.marks.len() <= MARKS_MAX, "{}", trimmer.marks.len());
        let mark = trimmer.due(at(100_000), SlowestFollower::At(at(50_000), MEMBER), now).0.unwrap();
        assert!(mark > at(25_000), "{mark}");
    }
}
