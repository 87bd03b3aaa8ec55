//! A disk that does not answer: what waits for the journal is looked at now and then, on a thread of its own.

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

/// Shared by the thread that looks and whoever asks.
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
            let mut progress = Progress { durable: journal.durable(), since: Instant::now() };
            loop {
                thread::sleep(LOOK_EVERY);
                let is_stalled = progress.is_stalled(journal.durable(), journal.lag(), Instant::now());
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

/// How far the journal was, and since when.
struct Progress {
    durable: u64,
    since: Instant,
}

impl Progress {
    fn is_stalled(&mut self, durable: u64, lag: u64, now: Instant) -> bool {
        if lag == 0 || durable > self.durable {
            *self = Self { durable, since: now };
        }
        now.duration_since(self.since) >= JOURNAL_STALL_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_stalls_when_something_waits_and_nothing_becomes_durable() {
        let begin = Instant::now();
        let mut progress = Progress { durable: 7, since: begin };
        let mut look = |millis, durable, lag| progress.is_stalled(durable, lag, begin + Duration::from_millis(millis));
        assert!(!look(5_000, 7, 0), "nothing waits");
        assert!(!look(6_000, 7, 3));
        assert!(!look(6_400, 8, 2), "it goes on");
        assert!(!look(7_800, 8, 2));
        assert!(look(7_900, 8, 2));
        assert!(!look(8_000, 10, 0), "and again");
    }
}
