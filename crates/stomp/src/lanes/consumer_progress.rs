//! Slow-consumer detection: a client may receive a burst of any size as long as it makes progress; a client that stalls
//! is disconnected.

use std::fmt;
use std::time::Duration;

use crate::monotonic_time::MonotonicTime;

/// Octets that may be queued for one connection at any time: twice what the cancellation of 20,000 orders by one
/// command produces on all topics. Beyond this it is disconnected as a slow consumer.
pub const RELIABLE_BYTES_MAX: usize = 256 * 1_024 * 1_024;
/// Beyond this number of octets the shorter stall limit applies.
pub const RELIABLE_BYTES_MARK: usize = 1_024 * 1_024;
/// How long a client may read nothing while more than that is queued; then it is a slow consumer.
pub const RELIABLE_STALL_MAX: Duration = Duration::from_secs(10);
/// How long a client may read nothing while any reliable message is queued.
pub const RELIABLE_WAIT_MAX: Duration = Duration::from_secs(30);

/// Pressure on the reliable lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsumerPressure {
    Normal,
    /// Half of the stall limit is over. Reported once, and again only after the queue was nearly empty.
    Slow,
}

/// The connection must end: the client does not read, and nothing may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowConsumer {
    Bytes {
        limit: usize,
    },
    Stall {
        limit: Duration,
        mark: usize,
    },
    Wait {
        limit: Duration,
    },
    Control {
        limit: usize,
    },
    /// The budget of all connections together is exceeded, and this one holds the most.
    Budget {
        limit: usize,
    },
}

impl fmt::Display for SlowConsumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("slow consumer, ")?;
        match self {
            Self::Bytes { limit } => write!(f, "more than {limit} octets wait"),
            Self::Stall { limit, mark } => {
                write!(f, "nothing was read for {} s while more than {mark} octets wait", limit.as_secs_f64())
            }
            Self::Wait { limit } => write!(f, "nothing was read for {} s", limit.as_secs_f64()),
            Self::Control { limit } => write!(f, "more than {limit} octets of answers wait"),
            Self::Budget { limit } => write!(f, "more than {limit} octets wait for all clients, most of them here"),
        }
    }
}

impl std::error::Error for SlowConsumer {}

/// How long a client may read nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallLimits {
    /// With more octets than this `stall` applies, with fewer `wait`.
    pub mark: usize,
    pub stall: Duration,
    pub wait: Duration,
}

impl Default for StallLimits {
    fn default() -> Self {
        Self { mark: RELIABLE_BYTES_MARK, stall: RELIABLE_STALL_MAX, wait: RELIABLE_WAIT_MAX }
    }
}

/// When a client last made progress.
#[derive(Debug)]
pub struct ConsumerProgress {
    since: MonotonicTime,
    is_reported: bool,
}

impl ConsumerProgress {
    pub fn new(now: MonotonicTime) -> Self {
        Self { since: now, is_reported: false }
    }

    /// The client has read something, or there is nothing to read.
    pub fn on_progress(&mut self, now: MonotonicTime) {
        self.since = now;
    }

    pub fn since(&self) -> MonotonicTime {
        self.since
    }

    /// Whether the client was reported as slow and has not caught up since.
    pub fn is_reported(&self) -> bool {
        self.is_reported
    }

    /// To be called at [`ConsumerProgress::deadline`]; `waiting` is the number of queued reliable octets.
    pub fn check(
        &mut self,
        now: MonotonicTime,
        waiting: usize,
        patience: StallLimits,
    ) -> Result<ConsumerPressure, SlowConsumer> {
        let still = now.since(self.since);
        self.is_reported &= waiting * 4 > patience.mark;
        if waiting > patience.mark && still >= patience.stall {
            return Err(SlowConsumer::Stall { limit: patience.stall, mark: patience.mark });
        }
        if waiting > 0 && still >= patience.wait {
            return Err(SlowConsumer::Wait { limit: patience.wait });
        }
        let is_slow = waiting > patience.mark && still >= patience.stall / 2;
        let was_told = self.is_reported;
        self.is_reported |= is_slow;
        Ok(if is_slow && !was_told { ConsumerPressure::Slow } else { ConsumerPressure::Normal })
    }

    /// When [`ConsumerProgress::check`] is due, unless there is progress before.
    pub fn deadline(&self, waiting: usize, patience: StallLimits) -> MonotonicTime {
        match waiting {
            0 => MonotonicTime::NEVER,
            _ if waiting <= patience.mark => self.since.after(patience.wait),
            _ if self.is_reported => self.since.after(patience.stall.min(patience.wait)),
            _ => self.since.after(patience.stall / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: StallLimits =
        StallLimits { mark: 100, stall: Duration::from_secs(10), wait: Duration::from_secs(30) };

    fn at(seconds: u64) -> MonotonicTime {
        MonotonicTime::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_client_that_takes_something_is_never_late_however_much_waits() {
        let mut progress = ConsumerProgress::new(at(0));
        for second in (0..1_000).step_by(4) {
            assert_eq!(progress.check(at(second), usize::MAX / 8, PATIENCE), Ok(ConsumerPressure::Normal));
            progress.on_progress(at(second));
        }
    }

    #[test]
    fn a_client_that_stands_still_is_warned_about_once_and_then_ends() {
        let mut progress = ConsumerProgress::new(at(0));
        assert_eq!(progress.deadline(101, PATIENCE), at(5));
        let heard = [4, 5, 6, 9].map(|second| progress.check(at(second), 101, PATIENCE));
        assert_eq!(
            heard,
            [ConsumerPressure::Normal, ConsumerPressure::Slow, ConsumerPressure::Normal, ConsumerPressure::Normal]
                .map(Ok)
        );
        assert_eq!(progress.deadline(101, PATIENCE), at(10));
        let stall = SlowConsumer::Stall { limit: PATIENCE.stall, mark: 100 };
        assert_eq!(progress.check(at(10), 101, PATIENCE), Err(stall));
        assert_eq!(stall.to_string(), "slow consumer, nothing was read for 10 s while more than 100 octets wait");
    }

    #[test]
    fn it_is_warned_about_again_after_it_had_nearly_caught_up() {
        let mut progress = ConsumerProgress::new(at(0));
        assert_eq!(progress.check(at(5), 101, PATIENCE), Ok(ConsumerPressure::Slow));
        progress.on_progress(at(6));
        assert_eq!(progress.check(at(11), 101, PATIENCE), Ok(ConsumerPressure::Normal));
        progress.on_progress(at(12));
        assert_eq!(progress.check(at(12), 25, PATIENCE), Ok(ConsumerPressure::Normal));
        assert_eq!(progress.check(at(17), 101, PATIENCE), Ok(ConsumerPressure::Slow));
    }

    #[test]
    fn a_little_may_wait_for_longer_and_nothing_for_ever() {
        let mut progress = ConsumerProgress::new(at(0));
        assert_eq!((progress.deadline(1, PATIENCE), progress.deadline(0, PATIENCE)), (at(30), MonotonicTime::NEVER));
        assert_eq!(progress.check(at(29), 100, PATIENCE), Ok(ConsumerPressure::Normal));
        assert_eq!(progress.check(at(1_000), 0, PATIENCE), Ok(ConsumerPressure::Normal));
        let wait = SlowConsumer::Wait { limit: PATIENCE.wait };
        assert_eq!(progress.check(at(30), 1, PATIENCE), Err(wait));
        assert_eq!(wait.to_string(), "slow consumer, nothing was read for 30 s");
    }
}
