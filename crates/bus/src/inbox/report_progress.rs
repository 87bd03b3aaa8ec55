//! How far the reports of venues have come: an adapter may forget what the journal has, and nothing before.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts all reports of the inbox together, in the order in which they wait.
#[derive(Debug, Default)]
pub struct ReportProgress {
    sent: AtomicU64,
    durable: AtomicU64,
}

impl ReportProgress {
    /// Before it waits: so the count is never below the place of a report that waits already.
    pub(crate) fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::SeqCst);
    }

    /// A report that was sent before this call is durable when [`Self::durable`] has reached this count.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    /// So many reports are in the journal, in the order in which they waited.
    pub fn durable(&self) -> u64 {
        self.durable.load(Ordering::SeqCst)
    }

    /// For the engine loop.
    pub fn set_durable(&self, reports: u64) {
        self.durable.store(reports, Ordering::SeqCst);
    }
}
