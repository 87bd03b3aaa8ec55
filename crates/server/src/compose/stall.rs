//! Stall detection: a thread of its own checks whether the journal makes progress, so that a disk that hangs is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use storage::journal::JournalMonitor;
use tracing::{error, info};

/// What waits for the disk for longer means that it has stalled. Clients are told within two seconds.
pub(crate) const JOURNAL_STALL_MAX: Duration = Duration::from_millis(1_500);
/// So often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Shared by the thread that checks and the interfaces.
#[derive(Debug, Clone, Default)]
pub(super) struct Stall(Arc<AtomicBool>);

impl Stall {
    pub(super) fn is_stalled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// For as long as the program runs.
    pub(super) fn watch(&self, journal: JournalMonitor) -> std::io::Result<()> {
        let stall = self.clone();
        let look = move || {
            let mut progress = Progress { durable: journal.durable(), waited: Duration::ZERO };
            loop {
                let begun = Instant::now();
                thread::sleep(LOOK_EVERY);
                let is_stalled = progress.is_stalled(journal.durable(), journal.lag(), begun.elapsed());
                stall.set(is_stalled, &journal);
            }
        };
        thread::Builder::new().name("journal-watch".into()).spawn(look).map(drop)
    }

    fn set(&self, is_stalled: bool, journal: &JournalMonitor) {
        if self.0.swap(is_stalled, Ordering::Relaxed) == is_stalled {
            return;
        }
        let durable = journal.durable();
        if is_stalled {
            error!(
                durable,
                "the journal's disk does not answer: nothing is acknowledged before it does (journal-stalled)"
            );
        } else {
            info!(durable, "the journal's disk answers again");
        }
    }
}

/// How far the journal was durable, and for how long something has waited since.
struct Progress {
    durable: u64,
    waited: Duration,
}

impl Progress {
    /// A pause of the whole process counts as one look: the disk had no time to answer either.
    fn is_stalled(&mut self, durable: u64, lag: u64, since_last_look: Duration) -> bool {
        if lag == 0 || durable > self.durable {
            *self = Self { durable, waited: Duration::ZERO };
        } else {
            self.waited += since_last_look.min(2 * LOOK_EVERY);
        }
        self.waited >= JOURNAL_STALL_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_stalls_when_something_waits_and_nothing_becomes_durable() {
        let mut progress = Progress { durable: 7, waited: Duration::ZERO };
        let mut looks = |count: u32, durable, lag| {
            (0..count).map(|_| progress.is_stalled(durable, lag, LOOK_EVERY)).last().unwrap_or_default()
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
        let mut progress = Progress { durable: 7, waited: Duration::ZERO };
        assert!(!progress.is_stalled(7, 3, Duration::from_secs(60)));
    }
}
