//! What a store of the read model does. SQLite is one, PostgreSQL another; a set of tests runs on both.
//!
//! A store has two halves. [`RowStore`] is the connection that writes, owned by the thread of the read model.
//! [`HistoryRows`] answers queries, from any thread.

use std::sync::Arc;

use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TradedSearch, TransactionSearch, ValueSearch,
};
use domain::query::Filter;
use domain::{Fill, Order, OrderStatus, PublishedEvent, Transaction, TransactionId};

/// What one transaction makes of the queue: whole inputs up to and with `through`.
#[derive(Debug, PartialEq, Eq)]
pub struct EventBatch {
    pub through: u64,
    pub events: Vec<PublishedEvent>,
}

/// Why a store did not do what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreProblem {
    /// It does not answer, or must be read anew. The read model connects again, and reads what it missed from the journal.
    Unavailable(String),
    /// History is stale until the next start.
    Failed(String),
}

/// The half that writes.
pub trait RowStore: Send {
    /// Connects, creates or migrates the tables, and returns the sequence up to which the store is complete. A store that is not of
    /// this journal is unavailable.
    fn connect(&mut self) -> Result<u64, StoreProblem>;

    /// Writes the rows of a batch and its sequence in one transaction: after any crash they fit.
    fn write(&mut self, batch: &EventBatch) -> Result<(), StoreProblem>;

    /// Stores how far inputs without events have come.
    fn save_applied(&mut self, applied: u64) -> Result<(), StoreProblem>;

    /// Called about every second, and at the end.
    fn maintain(&mut self, is_last: bool) -> Result<(), StoreProblem>;
}

/// The half that answers queries. Lists are by key, ascending unless the newest come first: orders and transactions by
/// their id unless another key is named, fills and events by their sequence. One input can cause several events; they stay on
/// one page, which may become longer for it, so that the next page can begin after their sequence.
pub trait HistoryRows: Send + Sync {
    /// The rows of a store that is complete up to a sequence. The writing half said so, perhaps of another server, or before a backup was
    /// brought back: where rows are read from what may not be the same, the answer is `Behind` unless the store says so itself.
    fn at(self: Arc<Self>, needed: u64) -> Arc<dyn HistoryRows>;

    fn orders(&self, search: &OrderSearch, sort: SortOrder, page: PageRequest)
    -> Result<Vec<Arc<Order>>, HistoryError>;

    /// By their last change, then by id.
    fn traded_orders(&self, search: &TradedSearch, page: ChangePage) -> Result<Vec<Arc<Order>>, HistoryError>;

    fn order_events(&self, int_id: &str) -> Result<Vec<OrderStatus>, HistoryError>;

    fn fills(&self, filter: Filter, page: PageRequest) -> Result<Vec<Arc<Fill>>, HistoryError>;

    fn transactions(
        &self,
        search: &TransactionSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError>;

    fn transaction(&self, id: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError>;

    fn events(&self, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError>;

    fn events_behind(&self, stretch: Stretch) -> Result<Found, HistoryError>;

    /// By sequence, ascending.
    fn value_samples(&self, search: &ValueSearch, page: PageRequest) -> Result<Vec<StoredSample>, HistoryError>;
}
