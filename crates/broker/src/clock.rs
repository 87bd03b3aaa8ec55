//! The clock of the broker: nanoseconds since it was made.

use std::time::{Duration, Instant};

use stomp::Time;

/// Later than anything that a connection waits for.
const FAR: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now(&self) -> Time {
        Time(0).after(self.0.elapsed())
    }

    /// The moment as a timer wants it; what never comes is looked at once a day.
    pub(crate) fn instant(&self, at: Time) -> tokio::time::Instant {
        let far = Instant::now() + FAR;
        self.0.checked_add(at.since(Time(0))).map_or(far, |instant| instant.min(far)).into()
    }
}
