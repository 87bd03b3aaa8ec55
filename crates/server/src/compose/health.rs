//! Whether the parts are well, for those who ask: readiness stands on the journal, the read model, the topics and the
//! lines to venues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use broker::OLDEST_EVENT_MAX;
use bus::Feed;
use bus::operations::Check;
use domain::report::SessionState;
use domain::{AdapterName, Event, EventClass};
use storage::journal::Watch;
use tracing::warn;

use super::foundation::Foundation;
use super::stall::Stall;

/// How long the ready line waits for the venues; the server serves without them too, and says so.
const VENUES_WAIT_MAX: Duration = Duration::from_secs(5);
/// Session events that may wait; there are few.
const SESSION_EVENTS_MAX: usize = 1_024;

pub(super) struct Health {
    journal: Watch,
    stall: Stall,
    read_model: Arc<storage::ReadModel>,
    feed: Feed,
    sessions: Mutex<Sessions>,
    changed: Condvar,
    /// The publish-subscribe door, once it is there.
    topics: OnceLock<broker::Watch>,
}

/// The sessions there are. Only the lines to venues count: a client of the FIX port may come and go as it likes.
#[derive(Default)]
struct Sessions {
    states: BTreeMap<AdapterName, SessionState>,
    venues: BTreeSet<AdapterName>,
}

impl Sessions {
    fn of_venues(&self) -> impl Iterator<Item = (&AdapterName, SessionState)> {
        let state = |venue| self.states.get(venue).copied().unwrap_or(SessionState::Disconnected);
        self.venues.iter().map(move |venue| (venue, state(venue)))
    }
}

impl Health {
    pub(super) fn new(foundation: &Foundation) -> Self {
        Self {
            journal: foundation.journal.watch(),
            stall: Stall::default(),
            read_model: foundation.read_model.clone(),
            feed: Feed::default(),
            sessions: Mutex::default(),
            changed: Condvar::new(),
            topics: OnceLock::new(),
        }
    }

    /// The topics are open; only this start tells it.
    pub(super) fn watch_topics(&self, topics: broker::Watch) {
        let _ = self.topics.set(topics);
    }

    pub(super) fn feed(&self) -> Feed {
        self.feed.clone()
    }

    /// Keeps up with the adapters until the feed ends.
    pub(super) fn listen(self: &Arc<Self>) -> std::io::Result<()> {
        let mut listener = self.feed.listen(&[EventClass::Session], SESSION_EVENTS_MAX);
        self.stall.watch(self.journal.clone())?;
        let health = self.clone();
        let thread = std::thread::Builder::new().name("health".into());
        thread.spawn(move || {
            while let Some(published) = listener.next_blocking() {
                if let Event::Session(change) = published.event {
                    health.sessions().states.insert(change.adapter.clone(), change.state);
                    health.changed.notify_all();
                }
            }
        })?;
        Ok(())
    }

    /// An adapter without which the server is not ready.
    pub(super) fn expect(&self, adapter: &AdapterName) {
        self.sessions().venues.insert(adapter.clone());
    }

    /// Until every venue takes orders and its first prices are known: who trades on the ready line must not be too early.
    pub(super) fn wait_for_venues(&self) {
        let deadline = Instant::now() + VENUES_WAIT_MAX;
        let mut sessions = self.sessions();
        while sessions.of_venues().any(|(_, state)| state < SessionState::Subscribed) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return warn!("not every venue is connected yet: /health/ready tells which");
            }
            sessions = self.changed.wait_timeout(sessions, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn checks(&self) -> Vec<Check> {
        let check = |(adapter, state): (&AdapterName, SessionState)| Check {
            name: format!("adapter {adapter}"),
            ok: state >= SessionState::LoggedOn,
            detail: state.name().into(),
        };
        let adapters: Vec<_> = self.sessions().of_venues().map(check).collect();
        let own = [self.journal_check(), self.read_model_check()];
        own.into_iter().chain(self.topics_check()).chain(adapters).collect()
    }

    /// Whether the topics tell what happens, in time.
    fn topics_check(&self) -> Option<Check> {
        let age = self.topics.get()?.oldest_event()?;
        let (ok, limit) = (age < OLDEST_EVENT_MAX, OLDEST_EVENT_MAX.as_secs());
        let late = || format!("the oldest event waits for {} s to be published, more than {limit} s", age.as_secs());
        let detail = if ok { "events are published as they happen".to_owned() } else { late() };
        Some(Check { name: "topics".into(), ok, detail })
    }

    pub(super) fn is_journal_stalled(&self) -> bool {
        self.stall.is_stalled()
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // A map of states is whole between any two statements that hold the lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn journal_check(&self) -> Check {
        let stalled = || self.is_journal_stalled().then(|| "its disk does not answer (journal-stalled)".to_owned());
        let problem = self.journal.failure().or_else(stalled).or_else(|| self.journal.spare_error());
        let detail = problem.clone().unwrap_or_else(|| format!("durable up to {}", self.journal.durable()));
        Check { name: "journal".into(), ok: problem.is_none(), detail }
    }

    fn read_model_check(&self) -> Check {
        let problem = self.read_model.failure();
        // Prices have numbers that are never journalled, and the read model is past them sooner than the journal.
        let applied = self.read_model.applied().min(self.journal.durable());
        let detail = problem.clone().unwrap_or_else(|| format!("applied up to {applied}"));
        Check { name: "read-model".into(), ok: problem.is_none(), detail }
    }
}
