//! Publish lag: for how long the oldest event of the engine has not been published.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stomp::MonotonicTime;

/// How often the publisher signals that it runs, also without events.
pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_secs(1);

/// Nothing is being published.
const IDLE: u64 = u64::MAX;

/// State of the publisher, for monitoring.
pub(crate) struct PublishLag {
    /// Arrival of the oldest event that is being published.
    oldest: AtomicU64,
    /// When the publisher last polled for events.
    last_poll: AtomicU64,
}

impl Default for PublishLag {
    fn default() -> Self {
        Self { oldest: AtomicU64::new(IDLE), last_poll: AtomicU64::new(IDLE) }
    }
}

impl PublishLag {
    /// Events are about to be published, the oldest of which has this age.
    pub(crate) fn on_events(&self, now: MonotonicTime, waited: Duration) {
        let waited = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        self.oldest.store(now.0.saturating_sub(waited), Ordering::Relaxed);
    }

    /// They are published, or there were none.
    pub(crate) fn on_poll(&self, now: MonotonicTime) {
        self.last_poll.store(now.0, Ordering::Relaxed);
        self.oldest.store(IDLE, Ordering::Relaxed);
    }

    /// Age of the oldest unpublished event. A publisher that does not poll counts as one with a pending event.
    pub(crate) fn lag(&self, now: MonotonicTime) -> Duration {
        let since = |at: &AtomicU64| match at.load(Ordering::Relaxed) {
            IDLE => Duration::ZERO,
            at => now.since(MonotonicTime(at)),
        };
        since(&self.oldest).max(since(&self.last_poll).saturating_sub(2 * HEARTBEAT_EVERY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> MonotonicTime {
        MonotonicTime::from_millis(seconds * 1_000)
    }

    #[test]
    fn an_event_ages_until_it_is_published_and_so_does_a_publisher_that_does_not_look() {
        let lateness = PublishLag::default();
        let age = |seconds| lateness.lag(at(seconds)).as_secs();
        assert_eq!(age(100), 0);
        lateness.on_poll(at(100));
        assert_eq!([age(101), age(102), age(109)], [0, 0, 7]);
        lateness.on_events(at(101), Duration::from_secs(4));
        assert_eq!([age(101), age(103)], [4, 6]);
        lateness.on_poll(at(103));
        assert_eq!(age(103), 0);
    }
}
