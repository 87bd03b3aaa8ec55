//! Read model: order, fill and event history in SQLite.
//!
//! ```text
//! offer ▸ queue ▸ writer thread: drain ▸ one transaction (rows and applied sequence) ▸ wake waiting queries
//! ```
//!
//! It is built from the journal and can be deleted: one that is missing, damaged or of another instance begins at 0,
//! and the replay at the start fills it again. Every row has a checksum. It gets durable events only, so it never shows what a crash could undo.
//!
//! It keeps the newest state of every order, and all order, fill and transaction events. Prices are not kept; of
//! positions, cash, values and reference data only the current state matters, which the engine has.

mod queue;
mod progress;
mod file;
mod remembered;
mod schema;
mod checksum;
mod writer;
mod payload;
mod rows;
mod readers;
mod history;
mod search;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use domain::PublishedEvent;

use crate::StorageError;
use crate::journal::InstanceId;
use crate::lock::DataDirLock;
pub use file::{FILE, has_event};
use progress::ApplyProgress;
use queue::EventQueue;
use readers::ReaderPool;
pub use remembered::{Remembered, keep_aside, remembered};
use writer::ReadModelWriter;

/// Events that may wait for the read model; with one more it is behind, and reads what it missed from the journal.
pub const READ_MODEL_EVENTS_MAX: usize = 131_072;
/// A larger file is not checked completely at the start, page by page and row by row; its damage is found when it is read.
pub const READ_MODEL_CHECK_BYTES_MAX: u64 = 256 << 20;
/// Queries that are answered at the same time; one more waits.
pub const HISTORY_READERS_MAX: usize = 4;
/// A history query waits this long for the model to catch up, or for a connection.
pub const HISTORY_WAIT_MAX: Duration = Duration::from_secs(2);

/// Shared by the runtime, which offers events, and the edges, which query.
pub struct ReadModel {
    /// Held here too, so that the folder stays locked until the last transaction.
    _lock: DataDirLock,
    path: PathBuf,
    queue: Arc<EventQueue>,
    progress: Arc<ApplyProgress>,
    readers: ReaderPool,
    timeout: Duration,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadModelLimits {
    events: usize,
    check_bytes: u64,
    timeout: Duration,
}

impl Default for ReadModelLimits {
    fn default() -> Self {
        Self { events: READ_MODEL_EVENTS_MAX, check_bytes: READ_MODEL_CHECK_BYTES_MAX, timeout: HISTORY_WAIT_MAX }
    }
}

impl ReadModel {
    /// As [`Self::open`], with room for fewer events.
    pub fn open_small(
        lock: &DataDirLock,
        instance: InstanceId,
        journal_end: u64,
        events: usize,
    ) -> Result<Self, StorageError> {
        let limits = ReadModelLimits { events, ..ReadModelLimits::default() };
        Self::open_with(limits, lock, instance, journal_end)
    }

    /// Opens the model of a locked data folder. `journal_end` is the last sequence of the journal: a model that saw
    /// more proves that the journal lost its end, and nothing is opened. A bad file is moved aside and said so.
    pub fn open(lock: &DataDirLock, instance: InstanceId, journal_end: u64) -> Result<Self, StorageError> {
        Self::open_with(ReadModelLimits::default(), lock, instance, journal_end)
    }

    pub(crate) fn open_with(
        limits: ReadModelLimits,
        lock: &DataDirLock,
        instance: InstanceId,
        journal_end: u64,
    ) -> Result<Self, StorageError> {
        let path = lock.folder().join(FILE);
        let (connection, applied) = file::open_or_create(&path, instance, journal_end, limits.check_bytes)?;
        let queue = Arc::new(EventQueue::new(limits.events, applied));
        let progress = Arc::new(ApplyProgress::new(applied));
        let readers = ReaderPool::open(&path, HISTORY_READERS_MAX, progress.clone());
        let readers = readers.map_err(StorageError::sqlite("open", &path))?;
        let writer = ReadModelWriter::new(path.clone(), connection, queue.clone(), progress.clone());
        let thread = thread::Builder::new()
            .name("read-model".to_owned())
            .spawn(move || writer.run())
            .map_err(StorageError::io("start a thread for", &path))?;
        let (patience, thread) = (limits.timeout, Mutex::new(Some(thread)));
        Ok(Self { _lock: lock.clone(), path, queue, progress, readers, timeout: patience, thread })
    }

    /// Queues the events of the inputs up to and with `through`, none of them twice and no input in two parts.
    /// What was offered before is skipped, so a replay may begin anywhere at or before `applied`. Waits while the
    /// queue is full. After a failure nothing is queued: the journal has it.
    pub fn append(&self, through: u64, events: &[PublishedEvent]) {
        self.queue.push(through, events);
    }

    /// As [`Self::append`], but never waits: where the queue is full, the model is behind, and from then on nothing is queued until
    /// [`Self::rejoin`].
    pub fn offer(&self, through: u64, events: &[PublishedEvent]) {
        if self.queue.offer(through, events) {
            tracing::warn!(
                applied = self.applied(),
                through,
                "read model is behind and reads what it missed from the journal; trading goes on"
            );
        }
    }

    /// Waits until the model is behind; returns the sequence after which events are missing. None when it was stopped.
    pub fn wait_behind(&self) -> Option<u64> {
        self.queue.wait_behind()
    }

    /// Everything up to a sequence was appended. Returns whether nothing is missing any more, or all is over.
    pub fn rejoin(&self, through: u64) -> bool {
        self.queue.rejoin(through)
    }

    /// Whether it reads what it missed from the journal.
    pub fn is_behind(&self) -> bool {
        self.queue.is_behind()
    }

    /// It cannot catch up: history is stale until the next start.
    pub fn fail(&self, reason: String) {
        self.progress.fail(reason);
        self.queue.close();
    }

    /// Everything up to this sequence can be queried.
    pub fn applied(&self) -> u64 {
        self.progress.applied()
    }

    /// Why it cannot be relied on, if so: it cannot be written, or a damaged row was read. A restart repairs it.
    pub fn failure(&self) -> Option<String> {
        self.progress.failure()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Applies what waits and ends. History can still be queried.
    pub fn stop(&self) -> Result<(), StorageError> {
        self.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            self.progress.fail("the thread of the read model panicked".to_owned());
        }
        match self.progress.failure() {
            None => Ok(()),
            Some(reason) => Err(StorageError::Failed { reason }),
        }
    }
}

impl Drop for ReadModel {
    fn drop(&mut self) {
        // A failure was logged when it happened.
        let _ = self.stop();
    }
}
