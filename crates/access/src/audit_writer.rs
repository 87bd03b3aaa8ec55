//! Audit writer: callers wait until their entry is on disk; entries share commits, so many refusals slow down only the
//! clients that cause them.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::audit::{AuditAggregator, AuditEntry};
use crate::users::user_store::UserStore;

/// Entries that may wait for the file; the caller of one more waits for a slot.
const AUDIT_WAITING_MAX: usize = 1_024;

pub(crate) struct AuditWriter {
    /// Some until it is dropped.
    queue: Option<mpsc::Sender<PendingAuditEntry>>,
    thread: Option<JoinHandle<()>>,
}

struct PendingAuditEntry {
    entry: AuditEntry,
    written: oneshot::Sender<Result<(), AuditWriteFailed>>,
}

/// An entry was not written; see the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AuditWriteFailed;

impl AuditWriter {
    pub(crate) fn start(register: Arc<UserStore>) -> io::Result<Self> {
        let (queue, entries) = mpsc::channel(AUDIT_WAITING_MAX);
        let thread = std::thread::Builder::new().name("audit".into());
        let thread = thread.spawn(move || write_all(&register, entries))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Returns when the entry is on disk.
    pub(crate) async fn record(&self, entry: AuditEntry) -> Result<(), AuditWriteFailed> {
        let (written, outcome) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(AuditWriteFailed)?;
        queue.send(PendingAuditEntry { entry, written }).await.map_err(|_| AuditWriteFailed)?;
        outcome.await.unwrap_or(Err(AuditWriteFailed))
    }
}

impl Drop for AuditWriter {
    /// Pending entries are written before the process ends.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn write_all(register: &UserStore, mut entries: mpsc::Receiver<PendingAuditEntry>) {
    let mut folds = AuditAggregator::default();
    while let Some(first) = entries.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < AUDIT_WAITING_MAX
            && let Ok(next) = entries.try_recv()
        {
            batch.push(next);
        }
        let (entries, waiting): (Vec<_>, Vec<_>) = batch.into_iter().map(|one| (one.entry, one.written)).unzip();
        let outcome = register.record(&entries, &mut folds).map_err(|error| {
            tracing::error!(%error, lost = entries.len(), "audit entries could not be written; check the disk");
            folds = AuditAggregator::default();
            AuditWriteFailed
        });
        for written in waiting {
            // The caller may be gone.
            let _ = written.send(outcome);
        }
    }
}
