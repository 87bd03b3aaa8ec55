//! Monotonic time, given by the driver, which reads its clock once per input.

use std::time::Duration;

/// A reading of the driver's clock: nanoseconds since an arbitrary start. It never runs backwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MonotonicTime(pub u64);

impl MonotonicTime {
    /// The latest reading; a deadline beyond it is never reached.
    pub const NEVER: Self = Self(u64::MAX);

    pub fn from_millis(millis: u64) -> Self {
        Self(0).after(Duration::from_millis(millis))
    }

    /// The time `wait` later, or [`MonotonicTime::NEVER`] where the clock does not reach so far (584 years).
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        u64::try_from(wait.as_nanos()).ok().and_then(|nanos| self.0.checked_add(nanos)).map_or(Self::NEVER, Self)
    }

    /// The time since `earlier`; zero where it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_beyond_the_clock_never_comes() {
        assert_eq!(MonotonicTime::from_millis(5).after(Duration::from_millis(2)), MonotonicTime(7_000_000));
        assert_eq!(MonotonicTime::from_millis(5).after(Duration::MAX), MonotonicTime::NEVER);
        assert_eq!(MonotonicTime::from_millis(5).since(MonotonicTime::from_millis(9)), Duration::ZERO);
    }
}
