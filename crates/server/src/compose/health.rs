//! Whether the parts are well, for those who ask: readiness stands on the journal, the read model, the topics and the
//! lines to venues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use broker::OLDEST_EVENT_MAX;
use bus::EventFeed;
use bus::operations::HealthCheck;
use domain::report::SessionState;
use domain::{AdapterName, Event, EventClass};
use storage::journal::JournalMonitor;
use tracing::warn;

use super::recovered_core::Core;
use super::stall::Stall;

/// How long the ready line waits for the venues; the server serves without them too, and says so.
const VENUES_WAIT_MAX: Duration = Duration::from_secs(5);
/// Session events that may wait; there are few.
const SESSION_EVENTS_MAX: usize = 1_024;

pub(super) struct Health {
    journal: JournalMonitor,
    stall: Stall,
    read_model: Arc<storage::ReadModel>,
    feed: EventFeed,
    sessions: Mutex<AdapterSessions>,
    changed: Condvar,
    /// The publish-subscribe door, once it is there.
    broker: OnceLock<broker::BrokerMonitor>,
}

/// The sessions there are. Only the lines to venues count: a client of the FIX port may come and go as it likes.
#[derive(Default)]
struct AdapterSessions {
    states: BTreeMap<AdapterName, SessionState>,
    venues: BTreeSet<AdapterName>,
}

impl AdapterSessions {
    fn venue_states(&self) -> impl Iterator<Item = (&AdapterName, SessionState)> {
        let state = |venue| self.states.get(venue).copied().unwrap_or(SessionState::Disconnected);
        self.venues.iter().map(move |venue| (venue, state(venue)))
    }
}

impl Health {
    pub(super) fn new(core: &Core) -> Self {
        let journal = core.journal.monitor();
        Self {
            stall: Stall::new(journal.clone()),
            journal,
            read_model: core.read_model.clone(),
            feed: EventFeed::default(),
            sessions: Mutex::default(),
            changed: Condvar::new(),
            broker: OnceLock::new(),
        }
    }

    /// The topics are open; only this start tells it.
    pub(super) fn set_broker_monitor(&self, topics: broker::BrokerMonitor) {
        let _ = self.broker.set(topics);
    }

    pub(super) fn feed(&self) -> EventFeed {
        self.feed.clone()
    }

    /// Keeps up with the adapters until the feed ends.
    pub(super) fn follow_feed(self: &Arc<Self>) -> std::io::Result<()> {
        let mut listener = self.feed.subscribe(&[EventClass::Session], SESSION_EVENTS_MAX);
        self.stall.watch()?;
        let health = self.clone();
        let thread = std::thread::Builder::new().name("health".into());
        thread.spawn(move || {
            while let Some(published) = listener.recv_blocking() {
                if let Event::Session(change) = published.event {
                    health.sessions().states.insert(change.adapter.clone(), change.state);
                    health.changed.notify_all();
                }
            }
        })?;
        Ok(())
    }

    /// An adapter without which the server is not ready.
    pub(super) fn require_adapter(&self, adapter: &AdapterName) {
        self.sessions().venues.insert(adapter.clone());
    }

    /// Until every venue takes orders and its first prices are known: who trades on the ready line must not be too early.
    pub(super) fn wait_for_venues(&self) {
        let deadline = Instant::now() + VENUES_WAIT_MAX;
        let mut sessions = self.sessions();
        while sessions.venue_states().any(|(_, state)| state < SessionState::Subscribed) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return warn!("not every venue is connected yet: /health/ready tells which");
            }
            sessions = self.changed.wait_timeout(sessions, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn checks(&self) -> Vec<HealthCheck> {
        let check = |(adapter, state): (&AdapterName, SessionState)| HealthCheck {
            name: format!("adapter {adapter}"),
            ok: state >= SessionState::LoggedOn,
            detail: state.name().into(),
        };
        let adapters: Vec<_> = self.sessions().venue_states().map(check).collect();
        let own = [self.journal_check(), self.read_model_check()];
        own.into_iter().chain(self.broker_check()).chain(adapters).collect()
    }

    /// Whether the topics tell what happens, in time.
    fn broker_check(&self) -> Option<HealthCheck> {
        let age = self.broker.get()?.oldest_event()?;
        let (ok, limit) = (age < OLDEST_EVENT_MAX, OLDEST_EVENT_MAX.as_secs());
        let late = || format!("the oldest event waits for {} s to be published, more than {limit} s", age.as_secs());
        let detail = if ok { "events are published as they happen".to_owned() } else { late() };
        Some(HealthCheck { name: "topics".into(), ok, detail })
    }

    pub(super) fn is_journal_stalled(&self) -> bool {
        self.stall.is_stalled()
    }

    fn sessions(&self) -> MutexGuard<'_, AdapterSessions> {
        // A map of states is whole between any two statements that hold the lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn journal_check(&self) -> HealthCheck {
        let stalled = || self.is_journal_stalled().then(|| "its disk does not answer (journal-stalled)".to_owned());
        let problem = self.journal.failure().or_else(stalled).or_else(|| self.journal.spare_error());
        let detail = problem.clone().unwrap_or_else(|| format!("durable up to {}", self.journal.durable()));
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
