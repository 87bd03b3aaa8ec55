//! Audit writer: callers wait until their entry is durable; entries share records of the journal, so many refusals slow down only
//! the clients that cause them. While the journal's disk does not answer, callers learn so at once, and the entries wait for it.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::audit::entry::AuditEntry;
use crate::users::user_store::UserStore;

/// Entries that may wait for the journal; the caller of one more waits for a slot.
const AUDIT_WAITING_MAX: usize = 1_024;

pub(crate) struct AuditWriter {
    /// Some until it is dropped.
    queue: Option<mpsc::Sender<PendingAuditEntry>>,
    register: Arc<UserStore>,
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
        let written = register.clone();
        let thread = thread.spawn(move || write_all(&written, entries))?;
        Ok(Self { queue: Some(queue), register, thread: Some(thread) })
    }

    /// Returns when the entry is durable. While the disk does not answer, the caller does not wait for it, but the entry does.
    pub(crate) async fn record(&self, entry: AuditEntry) -> Result<(), AuditWriteFailed> {
        let (written, outcome) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(AuditWriteFailed)?;
        let pending = PendingAuditEntry { entry, written };
        if self.register.is_stalled() {
            if queue.try_send(pending).is_err() {
                tracing::error!("an audit entry is lost: too many wait for the journal's disk, which does not answer");
            }
            return Err(AuditWriteFailed);
        }
        queue.send(pending).await.map_err(|_| AuditWriteFailed)?;
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
    while let Some(first) = entries.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < AUDIT_WAITING_MAX
            && let Ok(next) = entries.try_recv()
        {
            batch.push(next);
        }
        let (entries, waiting): (Vec<_>, Vec<_>) = batch.into_iter().map(|one| (one.entry, one.written)).unzip();
        let outcome = register.record(&entries).map_err(|error| {
            tracing::error!(%error, lost = entries.len(), "audit entries could not be written; check the disk");
            AuditWriteFailed
        });
        for written in waiting {
            // The caller may be gone.
            let _ = written.send(outcome);
        }
    }
}
