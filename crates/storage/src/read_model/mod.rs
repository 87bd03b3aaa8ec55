//! Read model: order, fill and event history, in a store: SQLite, or PostgreSQL by `crates/read-model-postgres`.
//!
//! ```text
//! offer ▸ queue ▸ writer thread: drain ▸ one transaction (rows and applied sequence) ▸ wake waiting queries
//! ```
//!
//! It is built from the journal and can be deleted: one that is missing, damaged or of another instance begins at 0,
//! and the replay at the start fills it again. Every row has a checksum. It gets durable events only, so it never shows what a crash could undo.
//!
//! It keeps the newest state of every order, all order, fill and transaction events, and the samples of the value history. Prices
//! are not kept; of positions, cash, values and reference data only the current state matters, which the engine has.

mod queue;
mod progress;
pub mod store;
pub mod batch_rows;
pub mod search_columns;
mod payload;
mod writer;
mod sqlite;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bus::History;
use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TradedSearch, TransactionSearch, ValueSearch,
};
use domain::query::Filter;
use domain::{Fill, Order, OrderStatus, PublishedEvent, Transaction, TransactionId};

use crate::StorageError;
use crate::journal::InstanceId;
use crate::lock::DataDirLock;
pub use payload::encode_event;
use progress::ApplyProgress;
use queue::EventQueue;
pub use queue::{CatchUpStep, MissedEvents};
pub use sqlite::file::{FILE, has_event};
pub use sqlite::remembered::{Remembered, keep_aside, remembered};
use sqlite::{SqliteRowStore, SqliteRows};
use store::{HistoryRows, RowStore};
use writer::ReadModelWriter;
pub use writer::STORE_RECONNECT_PAUSE_MAX;

/// Events that may wait for the read model; with one more it is behind, and reads what it missed from the journal.
pub const READ_MODEL_EVENTS_MAX: usize = 131_072;
/// A larger file is not checked completely at the start, page by page and row by row; its damage is found when it is read.
pub const READ_MODEL_CHECK_BYTES_MAX: u64 = 256 << 20;
/// Queries that are answered at the same time; one more waits.
pub const HISTORY_READERS_MAX: usize = 4;
/// A history query waits this long for the model to catch up, or for a connection.
pub const HISTORY_WAIT_MAX: Duration = Duration::from_secs(2);

/// After a stop a store that connects by itself gets no further transaction after this time; the journal has what is left.
pub const STORE_END_WAIT_MAX: Duration = Duration::from_secs(5);

/// Shared by the runtime, which offers events, and the edges, which query.
pub struct ReadModel {
    /// Held here too, so that the folder stays locked until the last transaction.
    _lock: DataDirLock,
    queue: Arc<EventQueue>,
    progress: Arc<ApplyProgress>,
    rows: Arc<dyn HistoryRows>,
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

    /// Opens the model of a locked data folder, in SQLite. `journal_end` is the last sequence of the journal: a model that
    /// saw more proves that the journal lost its end, and nothing is opened. A bad file is moved aside and said so.
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
        let (connection, applied) = sqlite::file::open_or_create(&path, instance, journal_end, limits.check_bytes)?;
        let queue = EventQueue::new(limits.events, applied);
        let progress = Arc::new(ApplyProgress::new(applied));
        let rows = SqliteRows::open(&path, HISTORY_READERS_MAX, progress.clone(), limits.timeout);
        let rows = Arc::new(rows.map_err(StorageError::sqlite("open", &path))?);
        let store = Box::new(SqliteRowStore::new(path, connection, applied));
        Self::start(lock, limits, queue, progress, (store, rows))
    }

    /// A model in a store that is not connected yet, and may not answer for a while. The model connects by itself, and is
    /// behind until then. `journal_end` is the last sequence of the journal.
    pub fn connect(
        lock: &DataDirLock,
        journal_end: u64,
        store: Box<dyn RowStore>,
        rows: Arc<dyn HistoryRows>,
    ) -> Result<Self, StorageError> {
        let limits = ReadModelLimits::default();
        let queue = EventQueue::detached(limits.events, journal_end, STORE_END_WAIT_MAX);
        Self::start(lock, limits, queue, Arc::new(ApplyProgress::new(0)), (store, rows))
    }

    fn start(
        lock: &DataDirLock,
        limits: ReadModelLimits,
        queue: EventQueue,
        progress: Arc<ApplyProgress>,
        (store, rows): (Box<dyn RowStore>, Arc<dyn HistoryRows>),
    ) -> Result<Self, StorageError> {
        let (is_connected, queue) = (queue.is_attached(), Arc::new(queue));
        let writer = ReadModelWriter::new(store, queue.clone(), progress.clone(), is_connected);
        let thread = thread::Builder::new()
            .name("read-model".to_owned())
            .spawn(move || writer.run())
            .map_err(StorageError::io("start a thread for", lock.folder()))?;
        let (timeout, thread) = (limits.timeout, Mutex::new(Some(thread)));
        Ok(Self { _lock: lock.clone(), queue, progress, rows, timeout, thread })
    }

    /// The sequence after which a recovery appends events. A store that connects by itself gets none, connected or not: a start
    /// never waits for it, and it may be lost in the middle of a replay. It catches up beside trading.
    pub fn replay_after(&self) -> u64 {
        if self.queue.takes_replay() { self.applied() } else { u64::MAX }
    }

    /// Queues the events of the inputs up to and with `through`, none of them twice and no input in two parts.
    /// What was offered before is skipped, so a replay may begin anywhere at or before `applied`. Waits while the
    /// queue is full. After a failure nothing is queued, nor for a store that connects by itself: the journal has it.
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

    /// Waits until the model is behind and its store answers; returns what is missing. None when it was stopped.
    pub fn wait_behind(&self) -> Option<MissedEvents> {
        self.queue.wait_behind()
    }

    /// As [`Self::append`], by a catch-up. Returns false where the catch-up is over: the store was lost meanwhile.
    pub fn append_missed(&self, missed: MissedEvents, through: u64, events: &[PublishedEvent]) -> bool {
        self.queue.push_missed(missed, through, events)
    }

    /// Everything up to a sequence was appended by a catch-up.
    pub fn rejoin(&self, missed: MissedEvents, through: u64) -> CatchUpStep {
        self.queue.rejoin(missed, through)
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

    /// The sequence at or below which a catch-up would begin. None until a store that connects by itself has said for the first time what it
    /// has.
    pub fn known_position(&self) -> Option<u64> {
        self.queue.was_attached().then(|| self.applied())
    }

    /// Whether a catch-up is still wanted: neither was the store lost, nor the read model stopped.
    pub fn is_wanted(&self, missed: MissedEvents) -> bool {
        self.queue.is_wanted(missed)
    }

    /// Why it cannot be relied on, if so: it cannot be written, a damaged row was read, or its store does not answer.
    pub fn failure(&self) -> Option<String> {
        self.progress.failure()
    }

    /// Fills that match a filter, as of a sequence.
    pub fn fills(&self, as_of: u64, filter: Filter, page: PageRequest) -> Result<Vec<Arc<Fill>>, HistoryError> {
        self.rows_at(as_of)?.fills(filter, page)
    }

    /// The rows, once everything up to a sequence is in them.
    fn rows_at(&self, as_of: u64) -> Result<Arc<dyn HistoryRows>, HistoryError> {
        let needed = self.progress.wait(as_of, self.timeout)?;
        Ok(self.rows.clone().at(needed))
    }

    /// Applies what waits and ends; a store that connects by itself gets what it takes in a few seconds. History can still be queried.
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

impl History for ReadModel {
    fn orders(
        &self,
        as_of: u64,
        search: &OrderSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Order>>, HistoryError> {
        self.rows_at(as_of)?.orders(search, sort, page)
    }

    fn traded_orders(
        &self,
        as_of: u64,
        search: &TradedSearch,
        page: ChangePage,
    ) -> Result<Vec<Arc<Order>>, HistoryError> {
        self.rows_at(as_of)?.traded_orders(search, page)
    }

    fn order_events(&self, as_of: u64, int_id: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        self.rows_at(as_of)?.order_events(int_id)
    }

    fn transactions(
        &self,
        as_of: u64,
        search: &TransactionSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        self.rows_at(as_of)?.transactions(search, sort, page)
    }

    fn transaction(&self, as_of: u64, id: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        self.rows_at(as_of)?.transaction(id)
    }

    fn events(&self, as_of: u64, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        self.rows_at(as_of)?.events(page)
    }

    fn events_behind(&self, as_of: u64, stretch: Stretch) -> Result<Found, HistoryError> {
        self.rows_at(as_of)?.events_behind(stretch)
    }

    fn value_samples(
        &self,
        as_of: u64,
        search: &ValueSearch,
        page: PageRequest,
    ) -> Result<Vec<StoredSample>, HistoryError> {
        self.rows_at(as_of)?.value_samples(search, page)
    }
}

impl Drop for ReadModel {
    fn drop(&mut self) {
        // A failure was logged when it happened.
        let _ = self.stop();
    }
}
