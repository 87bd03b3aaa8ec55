//! Whether a client takes what waits for it. A burst that it takes is no reason to disconnect it, however large; to take
//! nothing for a while is.

use std::fmt;
use std::time::Duration;

use crate::time::Time;

/// Octets that may wait for one connection however it reads: twice what the cancelling of 20,000 orders by one command
/// makes on all topics. With more it is disconnected as a slow consumer.
pub const RELIABLE_BYTES_MAX: usize = 256 * 1_024 * 1_024;
/// With more octets than this a connection may not stand still for long.
pub const RELIABLE_BYTES_MARK: usize = 1_024 * 1_024;
/// How long a client may take nothing while more than that waits; after that it is a slow consumer.
pub const RELIABLE_STALL_MAX: Duration = Duration::from_secs(10);
/// How long a client may take nothing while anything waits that must not be lost.
pub const RELIABLE_WAIT_MAX: Duration = Duration::from_secs(30);

/// How a lane does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressure {
    Easy,
    /// Half of the time is over in which the client must take something. Said once, and again only after what waited was
    /// nearly nothing.
    Slow,
}

/// The connection must end: it does not read, and nothing may be dropped.
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
    /// Of all connections together, and this one holds the most.
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

/// How long a client may stand still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// With more octets than this `stall` counts, with fewer `wait`.
    pub mark: usize,
    pub stall: Duration,
    pub wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { mark: RELIABLE_BYTES_MARK, stall: RELIABLE_STALL_MAX, wait: RELIABLE_WAIT_MAX }
    }
}

/// When a client last took something.
#[derive(Debug)]
pub struct Progress {
    since: Time,
    is_told: bool,
}

impl Progress {
    pub fn new(now: Time) -> Self {
        Self { since: now, is_told: false }
    }

    /// It has taken something, or has nothing to take.
    pub fn made(&mut self, now: Time) {
        self.since = now;
    }

    pub fn since(&self) -> Time {
        self.since
    }

    /// Whether it was said that the client is slow, and it has not caught up since.
    pub fn is_told(&self) -> bool {
        self.is_told
    }

    /// To be asked at [`Progress::late_at`]; `waiting` octets must not be lost.
    pub fn check(&mut self, now: Time, waiting: usize, patience: Patience) -> Result<Pressure, SlowConsumer> {
        let still = now.since(self.since);
        self.is_told &= waiting * 4 > patience.mark;
        if waiting > patience.mark && still >= patience.stall {
            return Err(SlowConsumer::Stall { limit: patience.stall, mark: patience.mark });
        }
        if waiting > 0 && still >= patience.wait {
            return Err(SlowConsumer::Wait { limit: patience.wait });
        }
        let is_slow = waiting > patience.mark && still >= patience.stall / 2;
        let was_told = self.is_told;
        self.is_told |= is_slow;
        Ok(if is_slow && !was_told { Pressure::Slow } else { Pressure::Easy })
    }

    /// When [`Progress::check`] has something to say, unless there is progress.
    pub fn late_at(&self, waiting: usize, patience: Patience) -> Time {
        match waiting {
            0 => Time::NEVER,
            _ if waiting <= patience.mark => self.since.after(patience.wait),
            _ if self.is_told => self.since.after(patience.stall.min(patience.wait)),
            _ => self.since.after(patience.stall / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { mark: 100, stall: Duration::from_secs(10), wait: Duration::from_secs(30) };

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_client_that_takes_something_is_never_late_however_much_waits() {
        let mut progress = Progress::new(at(0));
        for second in (0..1_000).step_by(4) {
            assert_eq!(progress.check(at(second), usize::MAX / 8, PATIENCE), Ok(Pressure::Easy));
            progress.made(at(second));
        }
    }

    #[test]
    fn a_client_that_stands_still_is_warned_about_once_and_then_ends() {
        let mut progress = Progress::new(at(0));
        assert_eq!(progress.late_at(101, PATIENCE), at(5));
        let heard = [4, 5, 6, 9].map(|second| progress.check(at(second), 101, PATIENCE));
        assert_eq!(heard, [Pressure::Easy, Pressure::Slow, Pressure::Easy, Pressure::Easy].map(Ok));
        assert_eq!(progress.late_at(101, PATIENCE), at(10));
        let stall = SlowConsumer::Stall { limit: PATIENCE.stall, mark: 100 };
        assert_eq!(progress.check(at(10), 101, PATIENCE), Err(stall));
        assert_eq!(stall.to_string(), "slow consumer, nothing was read for 10 s while more than 100 octets wait");
    }

    #[test]
    fn it_is_warned_about_again_after_it_had_nearly_caught_up() {
        let mut progress = Progress::new(at(0));
        assert_eq!(progress.check(at(5), 101, PATIENCE), Ok(Pressure::Slow));
        progress.made(at(6));
        assert_eq!(progress.check(at(11), 101, PATIENCE), Ok(Pressure::Easy));
        progress.made(at(12));
        assert_eq!(progress.check(at(12), 25, PATIENCE), Ok(Pressure::Easy));
        assert_eq!(progress.check(at(17), 101, PATIENCE), Ok(Pressure::Slow));
    }

    #[test]
    fn a_little_may_wait_for_longer_and_nothing_for_ever() {
        let mut progress = Progress::new(at(0));
        assert_eq!((progress.late_at(1, PATIENCE), progress.late_at(0, PATIENCE)), (at(30), Time::NEVER));
        assert_eq!(progress.check(at(29), 100, PATIENCE), Ok(Pressure::Easy));
        assert_eq!(progress.check(at(1_000), 0, PATIENCE), Ok(Pressure::Easy));
        let wait = SlowConsumer::Wait { limit: PATIENCE.wait };
        assert_eq!(progress.check(at(30), 1, PATIENCE), Err(wait));
        assert_eq!(wait.to_string(), "slow consumer, nothing was read for 30 s");
    }
}
