//! Session clock: UTC time of a session and waits until a deadline.

use fix::UtcTimestamp;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// No timer sleeps longer: the clock may have been set meanwhile.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// The clock of a session, given by the program: timestamps, checks of the peer's timestamps, heartbeats and schedules
/// follow it.
#[derive(Clone)]
pub struct SessionClock(Arc<dyn Fn() -> UtcTimestamp + Send + Sync>);

impl fmt::Debug for SessionClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

impl SessionClock {
    pub fn new(read: impl Fn() -> UtcTimestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The clock of the system.
    pub fn system() -> Self {
        Self::new(now)
    }

    pub fn now(&self) -> UtcTimestamp {
        (self.0)()
    }

    pub(crate) fn until(&self, deadline: UtcTimestamp) -> Duration {
        let nanos = deadline.nanos().saturating_sub(self.now().nanos());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)).min(LONGEST_SLEEP)
    }
}

/// The system's time.
pub fn now() -> UtcTimestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UtcTimestamp::from_nanos(i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX))
}
