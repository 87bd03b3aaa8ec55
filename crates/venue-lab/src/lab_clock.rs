//! The lab's clock: the machine's, or one of a program that steps the lab.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use fix::UtcTimestamp;
use fix_net::SessionClock;

/// Nanoseconds since 1970.
type ReadNanos = Arc<dyn Fn() -> i64 + Send + Sync>;

#[derive(Clone)]
pub struct LabClock {
    now: ReadNanos,
    /// By which messages are stamped and checked, where that is another one.
    wall: Option<ReadNanos>,
}

impl LabClock {
    /// Reads nanoseconds since 1970.
    pub fn new(read: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(read), wall: None }
    }

    /// SendingTime (52) is by this one: clients compare it with theirs.
    #[must_use]
    pub fn with_wall(self, read: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self { wall: Some(Arc::new(read)), ..self }
    }

    pub(crate) fn micros(&self) -> i64 {
        (self.now)() / 1_000
    }

    pub(crate) fn sessions(&self) -> SessionClock {
        let now = self.now.clone();
        let clock = SessionClock::new(move || UtcTimestamp::from_nanos(now()));
        match self.wall.clone() {
            None => clock,
            Some(wall) => clock.with_wall(move || UtcTimestamp::from_nanos(wall())),
        }
    }
}

impl Default for LabClock {
    fn default() -> Self {
        Self::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
        })
    }
}

impl fmt::Debug for LabClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LabClock").field(&self.micros()).finish()
    }
}
