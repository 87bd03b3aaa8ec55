//! Session clock: UTC time of a session and waits until a deadline.

use fix::Time;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// No timer sleeps longer: the clock may have been set meanwhile.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// The clock of a session, given by the program: timestamps, checks of the peer's timestamps, heartbeats and schedules
/// follow it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Time + Send + Sync>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

impl Clock {
    pub fn new(read: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The clock of the system.
    pub fn wall() -> Self {
        Self::new(now)
    }

    pub fn now(&self) -> Time {
        (self.0)()
    }

    pub(crate) fn until(&self, deadline: Time) -> Duration {
        let nanos = deadline.nanos().saturating_sub(self.now().nanos());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)).min(LONGEST_SLEEP)
    }
}

/// The system's time.
pub fn now() -> Time {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_nanos(i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX))
}
