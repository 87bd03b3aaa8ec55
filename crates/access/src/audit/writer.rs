//! Audit writer: callers wait until their entry is durable; entries share records of the journal, so many refusals slow down only
//! the clients that cause them. While the journal's disk does not answer, callers learn so at once, and the entries wait for it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
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
    writing: AuditWriting,
}

/// How entries come from the queue into the journal.
enum AuditWriting {
    /// None once it has ended.
    Thread(Option<JoinHandle<()>>),
    /// Each entry starts work that writes all that wait.
    OnDemand(Arc<Mutex<mpsc::Receiver<PendingAuditEntry>>>),
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
        let (queue, mut entries) = mpsc::channel(AUDIT_WAITING_MAX);
        if !register.environment().has_audit_thread() {
            let writing = AuditWriting::OnDemand(Arc::new(Mutex::new(entries)));
            return Ok(Self { queue: Some(queue), register, writing });
        }
        let thread = std::thread::Builder::new().name("audit".into());
        let written = register.clone();
        let thread = thread.spawn(move || {
            while let Some(first) = entries.blocking_recv() {
                write_batch(&written, first, &mut entries);
            }
        })?;
        Ok(Self { queue: Some(queue), register, writing: AuditWriting::Thread(Some(thread)) })
    }

    /// Returns when the entry is durable. While the disk does not answer, the caller does not wait for it, but the entry does.
    pub(crate) async fn record(&self, entry: AuditEntry) -> Result<(), AuditWriteFailed> {
        let (written, outcome) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(AuditWriteFailed)?;
        let pending = PendingAuditEntry { entry, written };
        if self.register.is_stalled() {
            match queue.try_send(pending) {
                Ok(()) => self.write_on_demand(),
                Err(_) => tracing::error!(
                    "an audit entry is lost: too many wait for the journal's disk, which does not answer"
                ),
            }
            return Err(AuditWriteFailed);
        }
        queue.send(pending).await.map_err(|_| AuditWriteFailed)?;
        self.write_on_demand();
        outcome.await.unwrap_or(Err(AuditWriteFailed))
    }

    fn write_on_demand(&self) {
        let AuditWriting::OnDemand(entries) = &self.writing else { return };
        let (register, entries) = (self.register.clone(), entries.clone());
        let environment = register.environment().clone();
        environment.block(Box::new(move || {
            let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
            // Work that began before may have written it.
            if let Ok(first) = entries.try_recv() {
                write_batch(&register, first, &mut entries);
            }
        }));
    }
}

impl Drop for AuditWriter {
    /// Pending entries are written before the process ends.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let AuditWriting::Thread(thread) = &mut self.writing {
            thread.take().into_iter().for_each(|thread| drop(thread.join()));
        }
    }
}

/// All entries that wait, in one record.
fn write_batch(register: &UserStore, first: PendingAuditEntry, entries: &mut mpsc::Receiver<PendingAuditEntry>) {
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
