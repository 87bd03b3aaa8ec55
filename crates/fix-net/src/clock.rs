//! Session clock: UTC time of a session and waits until a deadline.

use fix::{Application, MessageStore, SessionEngine, UtcTimestamp};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// No timer sleeps longer: the clock may have been set meanwhile.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// Reads a clock.
type ReadClock = Arc<dyn Fn() -> UtcTimestamp + Send + Sync>;

/// The clock of a session, given by the program: heartbeats and schedules follow it, and so do timestamps and checks of
/// the peer's timestamps, unless the wall is given beside it.
#[derive(Clone)]
pub struct SessionClock {
    now: ReadClock,
    wall: Option<ReadClock>,
}

impl fmt::Debug for SessionClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

impl SessionClock {
    pub fn new(read: impl Fn() -> UtcTimestamp + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(read), wall: None }
    }

    /// SendingTime (52) is by this one, ours and the peer's: peers compare it with theirs.
    #[must_use]
    pub fn with_wall(self, read: impl Fn() -> UtcTimestamp + Send + Sync + 'static) -> Self {
        Self { wall: Some(Arc::new(read)), ..self }
    }

    /// The clock of the system.
    pub fn system() -> Self {
        Self::new(now)
    }

    pub fn now(&self) -> UtcTimestamp {
        (self.now)()
    }

    /// The time for what the session does next; it learns where the wall is then.
    pub(crate) fn tell<S: MessageStore, A: Application>(&self, conversation: &mut SessionEngine<S, A>) -> UtcTimestamp {
        let now = self.now();
        if let Some(wall) = &self.wall {
            conversation.set_wall(now, wall());
        }
        now
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
