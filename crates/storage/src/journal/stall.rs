//! Stall detection: whether the journal's disk has not answered for too long, from looks at how far the journal is.

use std::time::Duration;

/// What waits for the disk for longer means that it has stalled. Clients are told within two seconds.
const JOURNAL_STALL_MAX: Duration = Duration::from_millis(1_500);

/// How far the journal was durable, and for how long something has waited since.
#[derive(Debug, Clone)]
pub struct StallDetector {
    durable: u64,
    waited: Duration,
}

impl StallDetector {
    /// So often the journal is to be looked at.
    pub const LOOK_EVERY: Duration = Duration::from_millis(100);

    /// Nothing waits yet.
    pub fn new(durable: u64) -> Self {
        Self { durable, waited: Duration::ZERO }
    }

    /// One look: how far the journal is durable, and how many sequences wait for that. A pause of the whole process counts as one look:
    /// the disk had no time to answer either.
    pub fn is_stalled(&mut self, durable: u64, lag: u64, since_last_look: Duration) -> bool {
        if lag == 0 || durable > self.durable {
            *self = Self::new(durable);
        } else {
            self.waited += since_last_look.min(2 * Self::LOOK_EVERY);
        }
        self.waited >= JOURNAL_STALL_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_stalls_when_something_waits_and_nothing_becomes_durable() {
        let mut detector = StallDetector::new(7);
        let mut looks = |count: u32, durable, lag| {
            let look = |_| detector.is_stalled(durable, lag, StallDetector::LOOK_EVERY);
            (0..count).map(look).last().unwrap_or_default()
        };
        assert!(!looks(50, 7, 0), "nothing waits");
        assert!(!looks(14, 7, 3));
        assert!(!looks(1, 8, 2), "it goes on");
        assert!(!looks(14, 8, 2));
        assert!(looks(1, 8, 2));
        assert!(!looks(1, 10, 0), "and again");
    }

    #[test]
    fn a_process_that_was_paused_has_no_stalled_journal() {
        assert!(!StallDetector::new(7).is_stalled(7, 3, Duration::from_secs(60)));
    }
}
