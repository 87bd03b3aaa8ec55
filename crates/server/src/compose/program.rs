//! What the program around the engine can do for an edge.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bus::operations::{
    BrokerDoors, Check, FixAct, FixSession, LogLine, Operations, ReferenceTrouble, UnknownFixSession,
};
use bus::{Catalogue, Feed};
use crossbeam_channel::Sender;
use storage::journal::Watch;

use super::foundation::Foundation;
use super::health::Health;
use super::importing::Importer;
use super::metrics::Metrics;
use crate::config::Config;
use crate::logs;

pub(super) struct Program {
    parameters: BTreeMap<String, String>,
    health: Arc<Health>,
    journal: Watch,
    importer: Importer,
    metrics: Arc<Metrics>,
    catalogue: Catalogue,
    /// Known once its doors are open.
    broker: Arc<OnceLock<BrokerDoors>>,
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
            metrics: Arc::new(Metrics::new(foundation.journal.watch(), foundation.read_model.clone())),
            catalogue,
            broker: Arc::default(),
            stop,
        }
    }

    pub(super) fn count_orders(&self) -> std::io::Result<()> {
        self.metrics.count_orders(self.feed())
    }

    /// Where the broker's doors are to be told.
    pub(super) fn broker_doors(&self) -> Arc<OnceLock<BrokerDoors>> {
        self.broker.clone()
    }

    pub(super) fn feed(&self) -> Feed {
        self.health.feed()
    }

    pub(super) fn catalogue(&self) -> Catalogue {
        self.catalogue.clone()
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

    fn broker(&self) -> BrokerDoors {
        self.broker.get().cloned().unwrap_or_default()
    }

    fn read_reference(&self, folder: Option<&Path>) -> Result<usize, ReferenceTrouble> {
        self.importer.read(folder)
    }

    fn write_metrics(&self, text: &mut String) {
        self.metrics.write(text);
    }

    fn log_lines(&self) -> Vec<LogLine> {
        logs::newest()
    }

    /// No FIX door is part of this program yet, so nobody has a session.
    fn fix_sessions(&self) -> Vec<FixSession> {
        vec![]
    }

    fn act_on_fix_session(&self, _: &str, _: FixAct) -> Result<(), UnknownFixSession> {
        Err(UnknownFixSession)
    }
}
