//! What the program around the engine can do for an edge.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bus::operations::{
    BrokerEndpoints, FixSessionCommand, FixSessionError, FixSessionStatus, HealthCheck, LogLine, Operations,
    ReferenceError, StrategyError,
};
use bus::{Bus, Catalogue};
use crossbeam_channel::Sender;
use domain::{Bar, BarSize, SecurityId, Timestamp};
use fix_gateway::FixOperations;
use runtime::strategies::{HostError, HostHandle};
use storage::BarFiles;
use storage::journal::JournalMonitor;

use super::fix::FixOperationsSlot;
use super::health::Health;
use super::listings::SimulatedMarkets;
use super::metrics::ProgramMetrics;
use super::recovered_core::Core;
use super::reference_import::ReferenceImporter;
use super::strategies::{self, HostSlot};
use crate::config::Config;
use crate::logging;

pub(super) struct ServerOperations {
    parameters: BTreeMap<String, String>,
    health: Arc<Health>,
    journal: JournalMonitor,
    importer: ReferenceImporter,
    metrics: ProgramMetrics,
    catalogue: Catalogue,
    /// Known once its doors are open.
    broker: Arc<OnceLock<BrokerEndpoints>>,
    /// Known once there is a host of strategies.
    strategies: HostSlot,
    /// Known once the FIX door is open.
    fix: FixOperationsSlot,
    /// Known once they were looked for.
    bars: Arc<OnceLock<Arc<BarFiles>>>,
    stop: Sender<()>,
}

impl ServerOperations {
    pub(super) fn new(config: &Config, core: &Core, health: Arc<Health>, stop: Sender<()>) -> Self {
        let catalogue = Catalogue::default();
        Self {
            parameters: config.parameters(),
            health,
            journal: core.journal.monitor(),
            importer: ReferenceImporter::new(config.reference_path.clone(), core.inbox.clone(), catalogue.clone()),
            metrics: ProgramMetrics::new(core),
            catalogue,
            broker: Arc::default(),
            strategies: HostSlot::default(),
            fix: FixOperationsSlot::default(),
            bars: Arc::default(),
            stop,
        }
    }

    pub(super) fn count_orders(&self) -> std::io::Result<()> {
        self.metrics.count_orders(self.health.feed())
    }

    /// Where the FIX door's operators are to be told.
    pub(super) fn fix_operations(&self) -> FixOperationsSlot {
        self.fix.clone()
    }

    /// Where the bars of earlier days are to be told.
    pub(super) fn stored_bars(&self) -> Arc<OnceLock<Arc<BarFiles>>> {
        self.bars.clone()
    }

    /// Where the broker's doors are to be told.
    pub(super) fn broker_endpoints(&self) -> Arc<OnceLock<BrokerEndpoints>> {
        self.broker.clone()
    }

    /// Where the broker is to be told, for its numbers.
    pub(super) fn broker_monitor(&self) -> Arc<OnceLock<broker::BrokerMonitor>> {
        self.metrics.broker_slot()
    }

    /// Where the host of strategies is to be told.
    pub(super) fn strategy_controls(&self) -> HostSlot {
        self.strategies.clone()
    }

    fn with_strategy_host(&self, act: impl FnOnce(&HostHandle) -> Result<(), HostError>) -> Result<(), StrategyError> {
        let controls = self.strategies.get().ok_or(StrategyError::NotRunnable)?;
        act(controls).map_err(strategies::to_edge_error)
    }

    /// Where simulated markets are to be told.
    pub(super) fn markets(&self) -> SimulatedMarkets {
        self.importer.markets()
    }

    /// The bus between edges and the engine, with this program behind it.
    pub(super) fn bus(self, core: &Core) -> Bus {
        Bus {
            inbox: core.inbox.clone(),
            feed: self.health.feed(),
            catalogue: self.catalogue.clone(),
            history: core.read_model.clone(),
            operations: Arc::new(self),
        }
    }
}

impl Operations for ServerOperations {
    fn checks(&self) -> Vec<HealthCheck> {
        self.health.checks()
    }

    fn parameters(&self) -> BTreeMap<String, String> {
        self.parameters.clone()
    }

    fn shutdown(&self) {
        // A stop that was asked for already is as good.
        self.stop.try_send(()).unwrap_or(());
    }

    fn durable(&self) -> u64 {
        self.journal.durable()
    }

    fn is_journal_stalled(&self) -> bool {
        self.health.is_journal_stalled()
    }

    fn broker_endpoints(&self) -> BrokerEndpoints {
        self.broker.get().cloned().unwrap_or_default()
    }

    fn load_reference(&self, folder: Option<&Path>) -> Result<usize, ReferenceError> {
        self.importer.read(folder)
    }

    fn write_metrics(&self, text: &mut String) {
        self.metrics.write(text);
    }

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        logging::recent_lines()
    }

    fn stored_bars(&self, security: SecurityId, size: BarSize, count: usize) -> Vec<Bar> {
        self.bars.get().map_or(Vec::new(), |files| files.newest(security, size, count, Timestamp(i64::MAX)))
    }

    fn fix_sessions(&self) -> Vec<FixSessionStatus> {
        self.fix.get().map(FixOperations::sessions).unwrap_or_default()
    }

    fn command_fix_session(&self, id: &str, act: FixSessionCommand) -> Result<(), FixSessionError> {
        self.fix.get().ok_or(FixSessionError::UnknownSession)?.command(id, act)
    }

    fn start_strategy(&self, name: &str) -> Result<(), StrategyError> {
        self.with_strategy_host(|controls| controls.start(name))
    }

    fn stop_strategy(&self, name: &str) -> Result<(), StrategyError> {
        self.with_strategy_host(|controls| controls.stop(name))
    }
}
