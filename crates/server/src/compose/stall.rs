//! Stall detection: a thread of its own checks whether the journal makes progress, so that a disk that hangs is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use bus::JournalStatus;
use storage::journal::{JournalMonitor, StallDetector};
use tracing::{error, info};

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
            let mut detector = StallDetector::new(watched.journal.durable());
            loop {
                let begun = Instant::now();
                thread::sleep(StallDetector::LOOK_EVERY);
                let durable = watched.journal.durable();
                let is_stalled = detector.is_stalled(durable, watched.journal.lag(), begun.elapsed());
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
