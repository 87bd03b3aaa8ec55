//! How far the journal is, as interfaces ask for it, and whether its disk answers: as the server's thread looks at it, but the simulator
//! looks, and only while something waits for the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bus::JournalStatus;
use storage::journal::{JournalMonitor, StallDetector};

/// No stall: the journal never becomes durable that far.
const NOT_STALLED: u64 = u64::MAX;

pub(crate) struct StallWatch {
    status: Arc<WatchedJournal>,
    detector: StallDetector,
}

/// For the interfaces.
struct WatchedJournal {
    journal: JournalMonitor,
    /// How far the journal was durable when it stalled.
    stalled_at: AtomicU64,
}

impl JournalStatus for WatchedJournal {
    fn durable(&self) -> u64 {
        self.journal.durable()
    }

    fn is_stalled(&self) -> bool {
        self.stalled_at.load(Ordering::Relaxed) == self.journal.durable()
    }
}

impl StallWatch {
    pub(crate) fn new(journal: JournalMonitor) -> Self {
        let detector = StallDetector::new(journal.durable());
        Self { status: Arc::new(WatchedJournal { journal, stalled_at: AtomicU64::new(NOT_STALLED) }), detector }
    }

    pub(crate) fn status(&self) -> Arc<dyn JournalStatus> {
        self.status.clone()
    }

    /// Something waits for the disk from now on: the looks before found that nothing did.
    pub(crate) fn begin(&mut self) {
        self.detector = StallDetector::new(self.status.durable());
    }

    /// One look; whether the journal stalls from now on.
    pub(crate) fn look(&mut self) -> bool {
        let (durable, lag) = (self.status.durable(), self.status.journal.lag());
        let is_stalled = self.detector.is_stalled(durable, lag, StallDetector::LOOK_EVERY);
        let stalled_at = if is_stalled { durable } else { NOT_STALLED };
        self.status.stalled_at.swap(stalled_at, Ordering::Relaxed) != stalled_at && is_stalled
    }
}
