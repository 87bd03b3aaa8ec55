//! Sessions of the venue adapters, followed from before the engine runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bus::EventFeed;
use domain::event::SessionChange;
use domain::report::SessionState;
use domain::{AdapterName, Event, EventClass};
use tracing::warn;

/// How long the ready line waits for the venues; the server serves without them too, and says so.
const VENUES_WAIT_MAX: Duration = Duration::from_secs(5);
/// Session events that may wait; there are few.
const SESSION_EVENTS_MAX: usize = 1_024;

/// The sessions there are. Only those of venues count: a client of the FIX port may come and go as it likes.
#[derive(Default)]
pub(crate) struct AdapterSessions {
    states: Mutex<SessionStates>,
    changed: Condvar,
}

#[derive(Default)]
struct SessionStates {
    states: BTreeMap<AdapterName, Arc<SessionChange>>,
    venues: BTreeSet<AdapterName>,
}

impl SessionStates {
    fn of_venues(&self) -> impl Iterator<Item = (&AdapterName, SessionState)> {
        let state = |venue| self.states.get(venue).map_or(SessionState::Disconnected, |change| change.state);
        self.venues.iter().map(move |venue| (venue, state(venue)))
    }
}

impl AdapterSessions {
    /// Keeps up with the adapters until the feed ends.
    pub(crate) fn follow(feed: &EventFeed) -> std::io::Result<Arc<Self>> {
        let sessions = Arc::new(Self::default());
        let mut listener = feed.subscribe(&[EventClass::Session], SESSION_EVENTS_MAX);
        let followed = sessions.clone();
        std::thread::Builder::new().name("health".into()).spawn(move || {
            while let Some(published) = listener.recv_blocking() {
                if let Event::Session(change) = published.event {
                    followed.lock().states.insert(change.adapter.clone(), change);
                    followed.changed.notify_all();
                }
            }
        })?;
        Ok(sessions)
    }

    /// An adapter without which the server is not ready.
    pub(crate) fn require(&self, adapter: &AdapterName) {
        self.lock().venues.insert(adapter.clone());
    }

    /// The adapters without which the server is not ready, with their lines.
    pub(crate) fn of_venues(&self) -> Vec<SessionChange> {
        let sessions = self.lock();
        let none = |adapter: &AdapterName| SessionChange {
            adapter: adapter.clone(),
            state: SessionState::Disconnected,
            lines: vec![],
        };
        let change =
            |venue| sessions.states.get(venue).map_or_else(|| none(venue), |change| SessionChange::clone(change));
        sessions.venues.iter().map(change).collect()
    }

    /// Until every venue takes orders and its first prices are known: who trades on the ready line must not be too early.
    pub(crate) fn wait_for_venues(&self) {
        let deadline = Instant::now() + VENUES_WAIT_MAX;
        let mut sessions = self.lock();
        while sessions.of_venues().any(|(_, state)| state < SessionState::Subscribed) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return warn!("not every venue is connected yet: /health/ready tells which");
            }
            sessions = self.changed.wait_timeout(sessions, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, SessionStates> {
        // A map of states is whole between any two statements that hold the lock.
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
