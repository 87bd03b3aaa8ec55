//! Lag of a follower: how old its answers may be. It is measured by the own steady clock, because those of the members differ.

use std::time::{Duration, Instant};

pub(in crate::cluster) struct FollowerLag {
    /// When it was at the end of the log last, with everything applied.
    at_end: Option<Instant>,
    /// The last record of the log as it was read to its end then, while the engine has not applied it.
    unapplied_end: Option<(u64, Instant)>,
    /// When the last entry was read.
    entry_read: Instant,
}

impl FollowerLag {
    pub(in crate::cluster) fn new(now: Instant) -> Self {
        Self { at_end: None, unapplied_end: None, entry_read: now }
    }

    pub(in crate::cluster) fn note_entry(&mut self, now: Instant) {
        self.entry_read = now;
    }

    /// The log was read to its end, which is this record. Of ends that are not applied yet the earliest is kept: under load there is always
    /// a newer one.
    pub(in crate::cluster) fn note_end(&mut self, sequence: u64, applied: u64, now: Instant) {
        self.confirm_end(applied);
        if applied >= sequence {
            (self.at_end, self.unapplied_end) = (Some(now), None);
        } else if self.unapplied_end.is_none() {
            self.unapplied_end = Some((sequence, now));
        }
    }

    pub(in crate::cluster) fn confirm_end(&mut self, applied: u64) {
        if let Some((_, read)) = self.unapplied_end.take_if(|(sequence, _)| *sequence <= applied) {
            self.at_end = self.at_end.max(Some(read));
        }
    }

    /// For how long the engine has not applied what was read.
    pub(in crate::cluster) fn unapplied(&self, now: Instant) -> Option<Duration> {
        self.unapplied_end.map(|(_, read)| now.saturating_duration_since(read))
    }

    /// For how long no entry was read.
    pub(in crate::cluster) fn silent(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.entry_read)
    }

    /// None before everything was applied once. A leader writes an entry in every `pulse`. Without one the end is that of a log, or of a
    /// server of it, that the leader does not reach, or nobody leads: what was last read may be old.
    pub(in crate::cluster) fn at(&self, now: Instant, pulse: Duration, has_leader: bool) -> Option<Duration> {
        let away = now.saturating_duration_since(self.at_end?);
        let silent = now.saturating_duration_since(self.entry_read).saturating_sub(pulse);
        Some(if has_leader { away.max(silent) } else { away })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PULSE: Duration = Duration::from_millis(500);

    #[test]
    fn the_end_of_the_log_counts_when_it_is_applied() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut lag = FollowerLag::new(begin);
        let seconds = |lag: &FollowerLag, now| lag.at(at(now), PULSE, false).map(|lag| lag.as_secs());
        lag.note_end(10, 9, at(0));
        assert_eq!(seconds(&lag, 0), None, "record 10 is read, and not applied");
        lag.note_end(20, 9, at(1));
        lag.confirm_end(10);
        assert_eq!(seconds(&lag, 1), Some(1), "the state is that of the first look");
        lag.note_end(30, 15, at(2));
        assert_eq!(seconds(&lag, 2), Some(2));
        lag.note_end(40, 30, at(3));
        assert_eq!(seconds(&lag, 3), Some(1), "that of the look before, which is applied now");
        lag.note_end(40, 40, at(4));
        assert_eq!(seconds(&lag, 4), Some(0));
    }

    #[test]
    fn an_end_without_the_pulses_of_a_leader_is_old() {
        let begin = Instant::now();
        let later = begin + PULSE + Duration::from_secs(6);
        let mut lag = FollowerLag::new(begin);
        // A server of the log that the leader does not reach says at every look that there is nothing more.
        lag.note_end(7, 7, later);
        assert_eq!(lag.at(later, PULSE, true), Some(Duration::from_secs(6)));
        assert_eq!(lag.at(later, PULSE, false), Some(Duration::ZERO), "nobody has ever led: there is no pulse to miss");
        lag.note_entry(later);
        assert_eq!(lag.at(later + PULSE, PULSE, true), Some(PULSE), "the time since the last look");
    }
}
