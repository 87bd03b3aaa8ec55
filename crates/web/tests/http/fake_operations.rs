//! The program around the test engine, and its history.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bus::cluster_overview::ClusterOverview;
use bus::forwarding::{ForwardedRequest, ForwardedResponse, ForwardingError, ForwardingFuture};
use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TextSearch, TradedSearch, TransactionSearch, ValueSearch,
};
use bus::operations::{
    BarStore, BrokerEndpoints, ClusterView, FixReloadError, FixSessionAdmin, FixSessionChanges, FixSessionCommand,
    FixSessionError, FixSessionStatus, HealthCheck, HealthChecks, JournalStatus, LogLine, ReferenceError, ServerAdmin,
    StrategyAdmin, StrategyError,
};
use bus::past::{PastError, PastPoint};
use bus::{CommandForwarder, History, PastStates, Reply};
use domain::query::Filter;
use domain::{Answer, Bar, BarSize, Order, OrderStatus, Query, SecurityId, Transaction, TransactionId};
use web::WebServices;

/// Everything up to this sequence is durable.
pub(crate) const DURABLE: u64 = 4_700;

#[derive(Default)]
pub(crate) struct FakeOperations {
    pub(crate) adapter_is_down: bool,
    pub(crate) cluster: Option<ClusterView>,
    pub(crate) overview: Option<ClusterOverview>,
    pub(crate) stopped: Mutex<bool>,
    pub(crate) broker: BrokerEndpoints,
    /// Errors of the reference data.
    pub(crate) trouble: Option<ReferenceError>,
    /// Where reference data was read from; `None`: the configured folder.
    pub(crate) read: Mutex<Vec<Option<PathBuf>>>,
    pub(crate) log: Vec<LogLine>,
    /// Stored ones, oldest first.
    pub(crate) bars: Vec<Bar>,
    /// A follower without all prices.
    pub(crate) bars_are_of_leader: bool,
    pub(crate) fix: Vec<FixSessionStatus>,
    pub(crate) fix_acts: Mutex<Vec<(String, FixSessionCommand)>>,
    pub(crate) history: FakeHistory,
    /// The way to the leader.
    pub(crate) forwarder: Option<Arc<FakeForwarder>>,
}

/// A leader that answers every command alike.
pub(crate) struct FakeForwarder {
    pub(crate) answer: Result<ForwardedResponse, ForwardingError>,
    pub(crate) forwarded: Mutex<Vec<ForwardedRequest>>,
}

impl CommandForwarder for FakeForwarder {
    fn forward(&self, request: ForwardedRequest, _: Duration) -> ForwardingFuture<'_> {
        self.forwarded.lock().unwrap().push(request);
        Box::pin(async { self.answer.clone() })
    }
}

impl FakeOperations {
    pub(crate) fn services(self: &Arc<Self>) -> WebServices {
        WebServices {
            health: self.clone(),
            admin: self.clone(),
            bars: self.clone(),
            past: self.clone(),
            fix_sessions: Some(self.clone()),
            strategies: self.clone(),
            broker: self.broker.clone(),
            forwarder: self.forwarder.clone().map(|forwarder| forwarder as _),
        }
    }
}

impl PastStates for FakeOperations {
    fn answer(&self, at: PastPoint, _: &Query) -> Result<Reply, PastError> {
        match at {
            PastPoint::Sequence(sequence) => Ok(Reply { sequence, outcome: Ok(Answer::Positions(vec![])) }),
            PastPoint::Instant(instant) => Err(PastError::Failed(format!("nothing is kept of {instant}"))),
        }
    }
}

impl JournalStatus for FakeOperations {
    fn durable(&self) -> u64 {
        DURABLE
    }
}

impl HealthChecks for FakeOperations {
    fn checks(&self) -> Vec<HealthCheck> {
        let check = |name: &str, ok, detail: &str| HealthCheck { name: name.into(), ok, detail: detail.into() };
        let adapters = if self.adapter_is_down { "SIMULATED is DISCONNECTED" } else { "all are LOGGED_ON" };
        vec![check("journal", true, "durable"), check("adapters", !self.adapter_is_down, adapters)]
    }

    fn cluster(&self) -> Option<ClusterView> {
        self.cluster.clone()
    }

    fn cluster_overview(&self) -> Option<ClusterOverview> {
        self.overview.clone()
    }
}

impl ServerAdmin for FakeOperations {
    fn parameters(&self) -> BTreeMap<String, String> {
        [("http.port", "0"), ("auth.secret", "***")].map(|(key, value)| (key.into(), value.into())).into()
    }

    fn shutdown(&self) {
        *self.stopped.lock().unwrap() = true;
    }

    fn load_reference(&self, folder: Option<&Path>) -> Result<usize, ReferenceError> {
        self.read.lock().unwrap().push(folder.map(Into::into));
        self.trouble.clone().map_or(Ok(12), Err)
    }

    fn write_metrics(&self, text: &mut String) {
        text.push_str("# TYPE rialto_story gauge\n");
    }

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        (1..).zip(self.log.clone()).collect()
    }
}

impl BarStore for FakeOperations {
    fn newest_bars(&self, _security: SecurityId, _size: BarSize, count: usize) -> Vec<Bar> {
        let mut bars = self.bars.clone();
        bars.split_off(bars.len().saturating_sub(count))
    }

    fn are_of_leader(&self) -> bool {
        self.bars_are_of_leader
    }
}

impl FixSessionAdmin for FakeOperations {
    fn sessions(&self) -> Vec<FixSessionStatus> {
        self.fix.clone()
    }

    fn command(&self, id: &str, act: FixSessionCommand) -> Result<(), FixSessionError> {
        if !self.fix.iter().any(|session| session.id == id) {
            return Err(FixSessionError::UnknownSession);
        }
        self.fix_acts.lock().unwrap().push((id.into(), act));
        Ok(())
    }

    fn reload(&self) -> Result<FixSessionChanges, FixReloadError> {
        if self.fix.is_empty() {
            return Err(FixReloadError::Refused(vec!["sessions.cfg line 1: there is no [SESSION]".into()]));
        }
        let unchanged = self.fix.iter().map(|session| session.id.clone()).collect();
        Ok(FixSessionChanges { added: vec!["DESK".into()], unchanged, ..FixSessionChanges::default() })
    }
}

impl StrategyAdmin for FakeOperations {
    fn start(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }

    fn stop(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }
}

/// History; every query is recorded.
#[derive(Default)]
pub(crate) struct FakeHistory {
    pub(crate) orders: Vec<Arc<Order>>,
    pub(crate) statuses: Vec<OrderStatus>,
    pub(crate) transactions: Vec<Arc<Transaction>>,
    pub(crate) events: Vec<StoredEvent>,
    /// How far it is, where it is behind.
    pub(crate) behind: Option<u64>,
    pub(crate) queries: Mutex<Vec<(u64, Filter, SortOrder, PageRequest)>>,
    pub(crate) searched: Mutex<Vec<OrderSearch>>,
    pub(crate) transaction_text: Mutex<Option<TextSearch>>,
    pub(crate) samples: Vec<StoredSample>,
    pub(crate) valued: Mutex<Vec<ValueSearch>>,
}

impl FakeHistory {
    fn note(&self, as_of: u64, filter: Filter, sort: SortOrder, page: PageRequest) -> Result<(), HistoryError> {
        self.queries.lock().unwrap().push((as_of, filter, sort, page));
        self.behind.map_or(Ok(()), |applied| Err(HistoryError::Behind { applied, wanted: as_of }))
    }
}

impl History for FakeOperations {
    fn orders(
        &self,
        as_of: u64,
        search: &OrderSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Order>>, HistoryError> {
        self.history.searched.lock().unwrap().push(search.clone());
        self.history.note(as_of, search.filter, sort, page)?;
        Ok(self.history.orders.clone())
    }

    fn traded_orders(&self, _: u64, _: &TradedSearch, _: ChangePage) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn order_events(&self, _: u64, int_id: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        let of_it = self.history.statuses.iter().filter(|status| status.int_id.as_str() == int_id);
        Ok(of_it.cloned().collect())
    }

    fn transactions(
        &self,
        as_of: u64,
        search: &TransactionSearch,
        sort: SortOrder,
        page: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        self.history.note(as_of, search.filter, sort, page)?;
        *self.history.transaction_text.lock().unwrap() = search.text.clone();
        Ok(self.history.transactions.clone())
    }

    fn transaction(&self, as_of: u64, id: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        self.history.note(as_of, Filter::default(), SortOrder::Oldest, PageRequest { after: 0, limit: 1 })?;
        Ok(self.history.transactions.iter().find(|booked| booked.id == id).cloned())
    }

    fn value_samples(
        &self,
        as_of: u64,
        search: &ValueSearch,
        page: PageRequest,
    ) -> Result<Vec<StoredSample>, HistoryError> {
        self.history.note(as_of, Filter::default(), SortOrder::Oldest, page)?;
        self.history.valued.lock().unwrap().push(*search);
        Ok(self.history.samples.clone())
    }

    fn events(&self, as_of: u64, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        self.history.note(as_of, Filter::default(), SortOrder::Oldest, page)?;
        Ok(self.history.events.clone())
    }

    fn events_behind(&self, _: u64, _: Stretch) -> Result<Found, HistoryError> {
        Ok(Found::default())
    }
}
