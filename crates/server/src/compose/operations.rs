//! What an operator may do with the running program: see its readiness, parameters, metrics and log, read reference data, stop
//! it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use broker::{BrokerMonitor, OLDEST_EVENT_MAX};
use bus::cluster_overview::ClusterOverview;
use bus::operations::{ClusterView, HealthCheck, LogLine, ReferenceError};
use bus::{HealthChecks, JournalStatus, ServerAdmin};
use crossbeam_channel::Sender;
use domain::event::SessionChange;
use domain::report::{LineKind, LineState, OpenFor, SessionState};
use storage::ReadModel;

use super::metrics::ProgramMetrics;
use super::reference_import::ReferenceImporter;
use super::stall::JournalWatch;
use crate::cluster::cluster_state::ClusterState;
use crate::compose::venues::adapter_sessions::AdapterSessions;
use crate::logging;

pub(super) struct ServerOperations {
    pub(super) parameters: BTreeMap<String, String>,
    pub(super) importer: ReferenceImporter,
    pub(super) metrics: ProgramMetrics,
    pub(super) stop: Sender<()>,
}

impl ServerAdmin for ServerOperations {
    fn parameters(&self) -> BTreeMap<String, String> {
        self.parameters.clone()
    }

    fn shutdown(&self) {
        // A stop that was asked for already is as good.
        self.stop.try_send(()).unwrap_or(());
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
}

/// Readiness: it stands on the journal, the read model, the broker and the sessions of the venues.
pub(super) struct Health {
    pub(super) journal: Arc<JournalWatch>,
    pub(super) read_model: Arc<ReadModel>,
    pub(super) sessions: Arc<AdapterSessions>,
    pub(super) broker: BrokerMonitor,
    /// In a cluster.
    pub(super) cluster: Option<Arc<ClusterState>>,
}

impl HealthChecks for Health {
    fn checks(&self) -> Vec<HealthCheck> {
        let check = |change: SessionChange| HealthCheck {
            name: format!("adapter {}", change.adapter),
            ok: OpenFor::new(change.state, &change.lines) == OpenFor::Orders,
            detail: adapter_detail(&change),
        };
        let own = [self.journal_check(), self.read_model_check()];
        let venues = self.sessions.of_venues().into_iter().map(check);
        let cluster = self.cluster.iter().map(|cluster| cluster.check());
        own.into_iter().chain(cluster).chain(self.broker_check()).chain(venues).collect()
    }

    fn cluster(&self) -> Option<ClusterView> {
        self.cluster.as_ref().map(|cluster| cluster.view())
    }

    fn cluster_overview(&self) -> Option<ClusterOverview> {
        self.cluster.as_ref().map(|cluster| cluster.overview())
    }
}

impl Health {
    /// Whether the topics tell what happens, in time.
    fn broker_check(&self) -> Option<HealthCheck> {
        let age = self.broker.oldest_event()?;
        let (ok, limit) = (age < OLDEST_EVENT_MAX, OLDEST_EVENT_MAX.as_secs());
        let late = || format!("the oldest event waits for {} s to be published, more than {limit} s", age.as_secs());
        let detail = if ok { "events are published as they happen".to_owned() } else { late() };
        Some(HealthCheck { name: "topics".into(), ok, detail })
    }

    fn journal_check(&self) -> HealthCheck {
        let journal = self.journal.monitor();
        let stalled = || self.journal.is_stalled().then(|| "its disk does not answer (journal-stalled)".to_owned());
        let problem = journal.failure().or_else(stalled).or_else(|| journal.spare_error());
        let detail = problem.clone().unwrap_or_else(|| format!("durable up to {}", journal.durable()));
        HealthCheck { name: "journal".into(), ok: problem.is_none(), detail }
    }

    fn read_model_check(&self) -> HealthCheck {
        let problem = self.read_model.failure();
        // Prices have numbers that are never journalled, and the read model is past them sooner than the journal.
        let applied = self.read_model.applied().min(self.journal.durable());
        let detail = problem.clone().unwrap_or_else(|| format!("applied up to {applied}"));
        HealthCheck { name: "read-model".into(), ok: problem.is_none(), detail }
    }
}

/// The state of the session, and the lines that are down apart from it.
fn adapter_detail(change: &SessionChange) -> String {
    let is_apart = |state: &&LineState| !state.up && state.line != LineKind::Prices;
    let down = change.lines.iter().filter(is_apart).filter(|_| change.state >= SessionState::LoggedOn);
    down.fold(change.state.name().to_owned(), |detail, state| {
        let reason = state.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        format!("{detail}, the {} line is down{reason}", state.line.name())
    })
}
