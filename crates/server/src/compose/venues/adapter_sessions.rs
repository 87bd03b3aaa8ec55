//! Sessions of the venue adapters, followed from before the engine runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bus::EventFeed;
use domain::event::SessionChange;
use domain::report::SessionState;
use domain::{AdapterName, Event, EventClass};
use tracing::warn;

/// How long the ready line waits for the venues; the server serves without them too, and says so.
pub(crate) const VENUES_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long the FIX clients and the strategies of a new leader wait for its first log-ons, from when its FIX port is open: QuickFIX
/// gives up a Logon that is not answered in 10 s.
pub(crate) const FIX_CLIENTS_WAIT_MAX: Duration = Duration::from_secs(9);
/// So often a wait looks whether the start is over.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Session events that may wait; there are few.
const SESSION_EVENTS_MAX: usize = 1_024;

/// For how long the start of a server waits for its venues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StartWaits {
    /// Until each venue has answered a log-on, with or without FIX sessions; none where the server leads no cluster.
    log_ons: Option<Duration>,
    /// After that, until each venue takes orders.
    venues: Duration,
}

impl StartWaits {
    /// `fix_open` is for how long FIX clients can have called.
    pub(crate) fn new(leads: bool, fix_open: Option<Duration>) -> Self {
        let log_ons = leads.then(|| FIX_CLIENTS_WAIT_MAX.saturating_sub(fix_open.unwrap_or_default()));
        Self { log_ons, venues: VENUES_WAIT_MAX }
    }
}

/// The sessions there are. Only those of venues count: a client of the FIX port may come and go as it likes.
#[derive(Default)]
pub(crate) struct AdapterSessions {
    states: Mutex<SessionStates>,
    changed: Condvar,
}

#[derive(Default)]
struct SessionStates {
    states: BTreeMap<AdapterName, Arc<SessionChange>>,
    /// With whether a log-on to each has failed.
    venues: BTreeMap<AdapterName, Arc<AtomicBool>>,
}

impl SessionStates {
    fn of_venues(&self) -> impl Iterator<Item = (&AdapterName, SessionState)> {
        let state = |venue| self.states.get(venue).map_or(SessionState::Disconnected, |change| change.state);
        self.venues.keys().map(move |venue| (venue, state(venue)))
    }

    fn are_subscribed(&self) -> bool {
        self.of_venues().all(|(_, state)| state >= SessionState::Subscribed)
    }

    fn were_asked(&self) -> bool {
        self.of_venues()
            .all(|(venue, state)| state >= SessionState::Subscribed || self.venues[venue].load(Ordering::Relaxed))
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

    /// An adapter without which the server is not ready. It sets what this gives when a log-on has failed.
    pub(crate) fn require(&self, adapter: &AdapterName) -> Arc<AtomicBool> {
        self.lock().venues.entry(adapter.clone()).or_default().clone()
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
        sessions.venues.keys().map(change).collect()
    }

    /// Decision 0059: FIX clients and strategies of a new leader wait for its first log-ons, so that an order that they have kept for it is
    /// not refused. A start that is over waits for nothing, and answers no FIX client.
    pub(crate) fn wait_at_start(&self, waits: StartWaits, begin_fix: impl FnOnce(), is_over: impl Fn() -> bool) {
        if let Some(limit) = waits.log_ons {
            self.wait_for_log_ons(limit, &is_over);
        }
        if is_over() {
            return;
        }
        begin_fix();
        self.wait_for_venues(waits.venues, is_over);
    }

    /// Until every venue takes orders and its first prices are known: who trades on the ready line must not be too early.
    fn wait_for_venues(&self, limit: Duration, is_over: impl Fn() -> bool) {
        if !self.wait(limit, &is_over, SessionStates::are_subscribed) && !is_over() {
            warn!("not every venue is connected yet: /health/ready tells which");
        }
    }

    /// Until every venue takes orders, or a log-on to it has failed.
    fn wait_for_log_ons(&self, limit: Duration, is_over: impl Fn() -> bool) {
        if !self.wait(limit, &is_over, SessionStates::were_asked) && !is_over() {
            warn!("a venue has not answered a log-on yet; the server goes on without it: /health/ready tells which");
        }
    }

    /// Whether it is so within the limit, and before the start is over.
    fn wait(&self, limit: Duration, is_over: &dyn Fn() -> bool, is_so: fn(&SessionStates) -> bool) -> bool {
        let deadline = Instant::now() + limit;
        let mut sessions = self.lock();
        while !is_so(&sessions) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || is_over() {
                return false;
            }
            let slice = left.min(LOOK_EVERY);
            sessions = self.changed.wait_timeout(sessions, slice).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, SessionStates> {
        // A map of states is whole between any two statements that hold the lock.
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Far longer than a test may take.
    const LONG: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_venue_that_was_asked_in_vain_is_not_waited_for_by_fix_clients() {
        let sessions = AdapterSessions::default();
        let name = AdapterName::new("TEST", None);
        let has_failed = sessions.require(&name);
        assert!(!sessions.wait(Duration::ZERO, &|| false, SessionStates::were_asked), "it was not asked yet");
        has_failed.store(true, Ordering::Relaxed);
        sessions.wait_for_log_ons(LONG, || false);
        assert!(
            !sessions.wait(Duration::ZERO, &|| false, SessionStates::are_subscribed),
            "the ready line waits for it"
        );
        has_failed.store(false, Ordering::Relaxed);
        let change = SessionChange { adapter: name.clone(), state: SessionState::Subscribed, lines: vec![] };
        sessions.lock().states.insert(name, Arc::new(change));
        sessions.wait_for_log_ons(LONG, || false);
        sessions.wait_for_venues(LONG, || false);
    }

    /// The third look finds that a log-on has failed.
    fn failing_at_the_third_look(has_failed: &AtomicBool, looks: &Cell<u32>) -> bool {
        looks.set(looks.get() + 1);
        has_failed.store(looks.get() >= 3, Ordering::Relaxed);
        false
    }

    #[test]
    fn the_strategies_of_a_leader_without_fix_sessions_wait_for_its_log_ons_too() {
        assert_eq!(StartWaits::new(true, None).log_ons, Some(FIX_CLIENTS_WAIT_MAX));
        assert_eq!(StartWaits::new(true, Some(Duration::from_secs(2))).log_ons, Some(Duration::from_secs(7)));
        assert_eq!(
            StartWaits::new(false, Some(Duration::ZERO)).log_ons,
            None,
            "its first log-on waits for no other leader"
        );
        let sessions = AdapterSessions::default();
        let has_failed = sessions.require(&AdapterName::new("TEST", None));
        let (looks, begun_with) = (Cell::new(0), Cell::new(None));
        let waits = StartWaits { log_ons: Some(LONG), venues: Duration::ZERO };
        let begin_fix = || begun_with.set(Some(has_failed.load(Ordering::Relaxed)));
        sessions.wait_at_start(waits, begin_fix, || failing_at_the_third_look(&has_failed, &looks));
        assert_eq!(begun_with.get(), Some(true), "FIX clients are answered, and strategies start, after the log-on");
    }

    #[test]
    fn a_start_that_is_over_waits_for_no_venue() {
        let sessions = AdapterSessions::default();
        drop(sessions.require(&AdapterName::new("TEST", None)));
        let waits = StartWaits { log_ons: Some(LONG), venues: LONG };
        sessions.wait_at_start(waits, || panic!("no FIX client is answered"), || true);
        sessions.wait_for_venues(LONG, || true);
    }
}
