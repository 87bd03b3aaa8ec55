//! Empty history, for tests and benchmarks.

use std::sync::Arc;

use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TradedSearch, TransactionSearch, ValueSearch,
};
use bus::{History, JournalStatus};
use domain::{Order, OrderStatus, Transaction, TransactionId};

/// A history without anything in it, and how far the journal is durable.
pub struct NullHistory {
    durable: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl NullHistory {
    pub fn with_durable(durable: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { durable: Box::new(durable) }
    }
}

impl JournalStatus for NullHistory {
    fn durable(&self) -> u64 {
        (self.durable)()
    }
}

impl History for NullHistory {
    fn orders(&self, _: u64, _: &OrderSearch, _: SortOrder, _: PageRequest) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn traded_orders(&self, _: u64, _: &TradedSearch, _: ChangePage) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn order_events(&self, _: u64, _: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        Ok(vec![])
    }

    fn transactions(
        &self,
        _: u64,
        _: &TransactionSearch,
        _: SortOrder,
        _: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        Ok(vec![])
    }

    fn transaction(&self, _: u64, _: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        Ok(None)
    }

    fn value_samples(&self, _: u64, _: &ValueSearch, _: PageRequest) -> Result<Vec<StoredSample>, HistoryError> {
        Ok(vec![])
    }

    fn events(&self, _: u64, _: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        Ok(vec![])
    }

    fn events_behind(&self, _: u64, _: Stretch) -> Result<Found, HistoryError> {
        Ok(Found::default())
    }
}
