//! No-op `Operations` and `History`, for tests and benchmarks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bus::history::{Found, HistoryError, OrderSearch, Page, PastEvent, Sort, Stretch};
use bus::operations::{BrokerDoors, Check, FixAct, FixSession, FixTrouble, LogLine, ReferenceTrouble, StrategyTrouble};
use bus::{History, Operations};
use domain::query::Filter;
use domain::{Bar, BarSize, Order, OrderStatus, SecurityId, Transaction, TransactionId};

/// For tests and benchmarks that use nothing of the server but its durable sequence.
pub struct Bystander {
    durable: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl Bystander {
    pub fn durable_up_to(durable: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { durable: Box::new(durable) }
    }
}

impl Operations for Bystander {
    fn checks(&self) -> Vec<Check> {
        vec![]
    }

    fn parameters(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn shut_down(&self) {}

    fn durable(&self) -> u64 {
        (self.durable)()
    }

    fn broker(&self) -> BrokerDoors {
        BrokerDoors::default()
    }

    fn read_reference(&self, _: Option<&Path>) -> Result<usize, ReferenceTrouble> {
        Ok(0)
    }

    fn write_metrics(&self, _: &mut String) {}

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        vec![]
    }

    fn stored_bars(&self, _security: SecurityId, _size: BarSize, _count: usize) -> Vec<Bar> {
        vec![]
    }

    fn fix_sessions(&self) -> Vec<FixSession> {
        vec![]
    }

    fn act_on_fix_session(&self, _: &str, _: FixAct) -> Result<(), FixTrouble> {
        Err(FixTrouble::Unknown)
    }

    fn start_strategy(&self, _: &str) -> Result<(), StrategyTrouble> {
        Err(StrategyTrouble::NotRunnable)
    }

    fn stop_strategy(&self, _: &str) -> Result<(), StrategyTrouble> {
        Err(StrategyTrouble::NotRunnable)
    }
}

impl History for Bystander {
    fn orders(&self, _: u64, _: &OrderSearch, _: Sort, _: Page) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn order_events(&self, _: u64, _: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        Ok(vec![])
    }

    fn transactions(&self, _: u64, _: Filter, _: Sort, _: Page) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        Ok(vec![])
    }

    fn transaction(&self, _: u64, _: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        Ok(None)
    }

    fn events(&self, _: u64, _: Page) -> Result<Vec<PastEvent>, HistoryError> {
        Ok(vec![])
    }

    fn events_behind(&self, _: u64, _: Stretch) -> Result<Found, HistoryError> {
        Ok(Found::default())
    }
}
