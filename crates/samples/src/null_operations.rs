//! No-op `Operations` and `History`, for tests and benchmarks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bus::history::{Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, Stretch};
use bus::operations::{
    BrokerEndpoints, FixSessionCommand, FixSessionError, FixSessionStatus, HealthCheck, LogLine, ReferenceError,
    StrategyError,
};
use bus::{History, Operations};
use domain::query::Filter;
use domain::{Bar, BarSize, Order, OrderStatus, SecurityId, Transaction, TransactionId};

/// For tests and benchmarks that use nothing of the server but its durable sequence.
pub struct NullOperations {
    durable: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl NullOperations {
    pub fn with_durable(durable: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { durable: Box::new(durable) }
    }
}

impl Operations for NullOperations {
    fn checks(&self) -> Vec<HealthCheck> {
        vec![]
    }

    fn parameters(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn shutdown(&self) {}

    fn durable(&self) -> u64 {
        (self.durable)()
    }

    fn broker_endpoints(&self) -> BrokerEndpoints {
        BrokerEndpoints::default()
    }

    fn load_reference(&self, _: Option<&Path>) -> Result<usize, ReferenceError> {
        Ok(0)
    }

    fn write_metrics(&self, _: &mut String) {}

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        vec![]
    }

    fn stored_bars(&self, _security: SecurityId, _size: BarSize, _count: usize) -> Vec<Bar> {
        vec![]
    }

    fn fix_sessions(&self) -> Vec<FixSessionStatus> {
        vec![]
    }

    fn command_fix_session(&self, _: &str, _: FixSessionCommand) -> Result<(), FixSessionError> {
        Err(FixSessionError::UnknownSession)
    }

    fn start_strategy(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }

    fn stop_strategy(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }
}

impl History for NullOperations {
    fn orders(&self, _: u64, _: &OrderSearch, _: SortOrder, _: PageRequest) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn order_events(&self, _: u64, _: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        Ok(vec![])
    }

    fn transactions(
        &self,
        _: u64,
        _: Filter,
        _: SortOrder,
        _: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        Ok(vec![])
    }

    fn transaction(&self, _: u64, _: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        Ok(None)
    }

    fn events(&self, _: u64, _: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        Ok(vec![])
    }

    fn events_behind(&self, _: u64, _: Stretch) -> Result<Found, HistoryError> {
        Ok(Found::default())
    }
}
