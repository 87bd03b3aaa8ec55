//! Server time in a strategy process: its own clock, corrected at each attach.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use domain::Timestamp;
use runtime::EngineClock;

use crate::clock::SystemClock;

#[derive(Clone)]
pub(crate) struct ServerTime {
    own: Arc<SystemClock>,
    ahead_nanos: Arc<AtomicI64>,
}

impl ServerTime {
    pub(crate) fn new() -> Self {
        Self { own: Arc::new(SystemClock::new(0)), ahead_nanos: Arc::default() }
    }

    pub(crate) fn set(&self, now: Timestamp) {
        self.ahead_nanos.store(now.nanos_since(self.own.now()), Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(self.own.now().0.saturating_add(self.ahead_nanos.load(Ordering::Relaxed)))
    }

    /// The server's time then.
    pub(crate) fn at(&self, instant: Instant) -> Timestamp {
        let nanos = i64::try_from(instant.elapsed().as_nanos()).unwrap_or(i64::MAX);
        Timestamp(self.now().0.saturating_sub(nanos))
    }

    pub(crate) fn shared(&self) -> EngineClock {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }
}
