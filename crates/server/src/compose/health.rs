//! Readiness: it stands on the journal, the read model, the broker and the sessions of the venues.

use std::sync::Arc;

use broker::{BrokerMonitor, OLDEST_EVENT_MAX};
use bus::HealthChecks;
use bus::JournalStatus;
use bus::operations::HealthCheck;
use domain::event::SessionChange;
use domain::report::{LineKind, LineState, OpenFor, SessionState};
use storage::ReadModel;

use super::adapter_sessions::AdapterSessions;
use super::stall::JournalWatch;

pub(super) struct Health {
    pub(super) journal: Arc<JournalWatch>,
    pub(super) read_model: Arc<ReadModel>,
    pub(super) sessions: Arc<AdapterSessions>,
    pub(super) broker: BrokerMonitor,
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
        own.into_iter().chain(self.broker_check()).chain(venues).collect()
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
