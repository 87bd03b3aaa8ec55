//! The wall clock, and how long it is until a time on it.

use fix::Time;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longer than this no timer sleeps: the clock may have been set meanwhile.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

pub fn now() -> Time {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_nanos(i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX))
}

pub(crate) fn until(deadline: Time) -> Duration {
    let nanos = deadline.nanos().saturating_sub(now().nanos());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)).min(LONGEST_SLEEP)
}
