//! Broker clock: monotonic nanoseconds since the broker was created.

use std::time::{Duration, Instant};

use stomp::MonotonicTime;

/// Later than any deadline of a connection.
const FAR_FUTURE: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, Copy)]
pub(crate) struct BrokerClock(Instant);

impl BrokerClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now(&self) -> MonotonicTime {
        MonotonicTime(0).after(self.0.elapsed())
    }

    /// The instant for a timer; one that is never reached is checked once a day.
    pub(crate) fn instant(&self, at: MonotonicTime) -> tokio::time::Instant {
        let far = Instant::now() + FAR_FUTURE;
        self.0.checked_add(at.since(MonotonicTime(0))).map_or(far, |instant| instant.min(far)).into()
    }
}
