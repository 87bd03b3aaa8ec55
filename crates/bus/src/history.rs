//! What has been: the read model behind the journal.

use std::sync::Arc;

use domain::query::Filter;
use domain::{Order, OrderStatus, Timestamp, Transaction, TransactionId};

/// A page of a list: entries after a key, at most so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    pub after: u64,
    pub limit: usize,
}

/// The read model could not answer.
#[derive(Debug)]
pub enum HistoryError {
    /// It did not reach the caller's sequence in time; try again.
    Behind {
        applied: u64,
        wanted: u64,
    },
    Broken(String),
}

impl std::fmt::Display for HistoryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Behind { applied, wanted } => write!(f, "history is at {applied} and not yet at {wanted}"),
            Self::Broken(reason) => write!(f, "history can't be read: {reason}"),
        }
    }
}

/// An event as it was published, for those who catch up: its payload in the journal's encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastEvent {
    pub sequence: u64,
    pub at: Timestamp,
    pub class: u8,
    pub payload: Vec<u8>,
}

/// Every call first waits, at most two seconds, until the read model has applied the caller's sequence.
pub trait History: Send + Sync {
    fn orders(&self, as_of: u64, filter: Filter, page: Page) -> Result<Vec<Arc<Order>>, HistoryError>;

    fn order_events(&self, as_of: u64, int_id: &str) -> Result<Vec<OrderStatus>, HistoryError>;

    fn transactions(&self, as_of: u64, filter: Filter, page: Page) -> Result<Vec<Arc<Transaction>>, HistoryError>;

    fn transaction(&self, as_of: u64, id: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError>;

    fn events(&self, as_of: u64, page: Page) -> Result<Vec<PastEvent>, HistoryError>;
}
