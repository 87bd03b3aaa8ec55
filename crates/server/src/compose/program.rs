//! What the program around the engine can do for an edge.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bus::operations::{
    BrokerDoors, Check, FixAct, FixSession, FixTrouble, LogLine, Operations, ReferenceTrouble, StrategyTrouble,
};
use bus::{Bus, Catalogue};
use crossbeam_channel::Sender;
use domain::{Bar, BarSize, SecurityId, Timestamp};
use fix_gateway::Operators;
use runtime::strategies::{Controls, Trouble};
use storage::BarFiles;
use storage::journal::Watch;

use super::fix::OperatorsSlot;
use super::foundation::Foundation;
use super::health::Health;
use super::importing::Importer;
use super::listings::Markets;
use super::metrics::Metrics;
use super::strategies::{self, ControlsSlot};
use crate::config::Config;
use crate::logs;

pub(super) struct Program {
    parameters: BTreeMap<String, String>,
    health: Arc<Health>,
    journal: Watch,
    importer: Importer,
    metrics: Metrics,
    catalogue: Catalogue,
    /// Known once its doors are open.
    broker: Arc<OnceLock<BrokerDoors>>,
    /// Known once there is a host of strategies.
    strategies: ControlsSlot,
    /// Known once the FIX door is open.
    fix: OperatorsSlot,
    /// Known once they were looked for.
    bars: Arc<OnceLock<Arc<BarFiles>>>,
    stop: Sender<()>,
}

impl Program {
    pub(super) fn new(config: &Config, foundation: &Foundation, health: Arc<Health>, stop: Sender<()>) -> Self {
        let catalogue = Catalogue::default();
        Self {
            parameters: config.parameters(),
            health,
            journal: foundation.journal.watch(),
            importer: Importer::new(config.reference_path.clone(), foundation.inbox.clone(), catalogue.clone()),
            metrics: Metrics::new(foundation),
            catalogue,
            broker: Arc::default(),
            strategies: ControlsSlot::default(),
            fix: OperatorsSlot::default(),
            bars: Arc::default(),
            stop,
        }
    }

    pub(super) fn count_orders(&self) -> std::io::Result<()> {
        self.metrics.count_orders(self.health.feed())
    }

    /// Where the FIX door's operators are to be told.
    pub(super) fn fix_operators(&self) -> OperatorsSlot {
        self.fix.clone()
    }

    /// Where the bars of earlier days are to be told.
    pub(super) fn stored_bars(&self) -> Arc<OnceLock<Arc<BarFiles>>> {
        self.bars.clone()
    }

    /// Where the broker's doors are to be told.
    pub(super) fn broker_doors(&self) -> Arc<OnceLock<BrokerDoors>> {
        self.broker.clone()
    }

    /// Where the broker is to be told, for its numbers.
    pub(super) fn topics(&self) -> Arc<OnceLock<broker::Watch>> {
        self.metrics.topics()
    }

    /// Where the host of strategies is to be told.
    pub(super) fn strategy_controls(&self) -> ControlsSlot {
        self.strategies.clone()
    }

    fn on_strategy(&self, act: impl FnOnce(&Controls) -> Result<(), Trouble>) -> Result<(), StrategyTrouble> {
        let controls = self.strategies.get().ok_or(StrategyTrouble::NotRunnable)?;
        act(controls).map_err(strategies::trouble)
    }

    /// Where simulated markets are to be told.
    pub(super) fn markets(&self) -> Markets {
        self.importer.markets()
    }

    /// The bus between edges and the engine, with this program behind it.
    pub(super) fn bus(self, foundation: &Foundation) -> Bus {
        Bus {
            inbox: foundation.inbox.clone(),
            feed: self.health.feed(),
            catalogue: self.catalogue.clone(),
            history: foundation.read_model.clone(),
            operations: Arc::new(self),
        }
    }
}

impl Operations for Program {
    fn checks(&self) -> Vec<Check> {
        self.health.checks()
    }

    fn parameters(&self) -> BTreeMap<String, String> {
        self.parameters.clone()
    }

    fn shut_down(&self) {
        // A stop that was asked for already is as good.
        self.stop.try_send(()).unwrap_or(());
    }

    fn durable(&self) -> u64 {
        self.journal.durable()
    }

    fn is_journal_stalled(&self) -> bool {
        self.health.is_journal_stalled()
    }

    fn broker(&self) -> BrokerDoors {
        self.broker.get().cloned().unwrap_or_default()
    }

    fn read_reference(&self, folder: Option<&Path>) -> Result<usize, ReferenceTrouble> {
        self.importer.read(folder)
    }

    fn write_metrics(&self, text: &mut String) {
        self.metrics.write(text);
    }

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        logs::newest()
    }

    fn stored_bars(&self, security: SecurityId, size: BarSize, count: usize) -> Vec<Bar> {
        self.bars.get().map_or(Vec::new(), |files| files.newest(security, size, count, Timestamp(i64::MAX)))
    }

    fn fix_sessions(&self) -> Vec<FixSession> {
        self.fix.get().map(Operators::sessions).unwrap_or_default()
    }

    fn act_on_fix_session(&self, id: &str, act: FixAct) -> Result<(), FixTrouble> {
        self.fix.get().ok_or(FixTrouble::Unknown)?.act(id, act)
    }

    fn start_strategy(&self, name: &str) -> Result<(), StrategyTrouble> {
        self.on_strategy(|controls| controls.start(name))
    }

    fn stop_strategy(&self, name: &str) -> Result<(), StrategyTrouble> {
        self.on_strategy(|controls| controls.stop(name))
    }
}
