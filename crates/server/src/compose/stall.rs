//! Stall detection: a thread of its own checks whether the journal makes progress, so that a disk that hangs is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bus::JournalStatus;
use storage::journal::JournalMonitor;
use tracing::{error, info};

/// What waits for the disk for longer means that it has stalled. Clients are told within two seconds.
pub(crate) const JOURNAL_STALL_MAX: Duration = Duration::from_millis(1_500);
/// So often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// No stall: the journal never becomes durable that far.
const NOT_STALLED: u64 = u64::MAX;

/// Shared by the thread that checks and the interfaces.
pub(super) struct JournalWatch {
    journal: JournalMonitor,
    /// How far the journal was durable when it stalled.
    stalled_at: AtomicU64,
}

impl JournalStatus for JournalWatch {
    fn durable(&self) -> u64 {
        self.journal.durable()
    }

    /// Asks the journal too: a disk that answers again refuses nobody until the next look.
    fn is_stalled(&self) -> bool {
        self.stalled_at.load(Ordering::Relaxed) == self.journal.durable()
    }
}

impl JournalWatch {
    /// For as long as the program runs.
    pub(super) fn start(journal: JournalMonitor) -> std::io::Result<Arc<Self>> {
        let watch = Arc::new(Self { journal, stalled_at: AtomicU64::new(NOT_STALLED) });
        let watched = watch.clone();
        let look = move || {
            let mut progress = Progress { durable: watched.journal.durable(), waited: Duration::ZERO };
            loop {
                let begun = Instant::now();
                thread::sleep(LOOK_EVERY);
                let durable = watched.journal.durable();
                let is_stalled = progress.is_stalled(durable, watched.journal.lag(), begun.elapsed());
                watched.set(if is_stalled { durable } else { NOT_STALLED });
            }
        };
        thread::Builder::new().name("journal-watch".into()).spawn(look)?;
        Ok(watch)
    }

    pub(super) fn monitor(&self) -> &JournalMonitor {
        &self.journal
    }

    fn set(&self, stalled_at: u64) {
        if self.stalled_at.swap(stalled_at, Ordering::Relaxed) == stalled_at {
            return;
        }
        let durable = self.journal.durable();
        if stalled_at == NOT_STALLED {
            info!(durable, "the journal's disk answers again");
        } else {
            error!(
                durable,
                "the journal's disk does not answer: nothing is acknowledged before it does (journal-stalled)"
            );
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
