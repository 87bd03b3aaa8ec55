//! Topic activity: slow, quiet or busy, by the last two gaps. One result serves all connections.

use std::time::Duration;

use crate::time::Time;

/// The activity of a topic at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The last two gaps were both long: a topic that is proven slow passes at once.
    Slow,
    /// The first event, or the first after one long gap.
    Quiet,
    Busy,
}

/// The last two gaps of one topic.
#[derive(Debug, Clone, Copy, Default)]
pub struct PaceMeter {
    last: Option<Time>,
    last_gap_was_long: bool,
}

impl PaceMeter {
    /// An event happens; a gap of `long_gap` or more is long.
    pub fn event(&mut self, now: Time, long_gap: Duration) -> Pace {
        let Some(last) = self.last.replace(now) else {
            return Pace::Quiet;
        };
        let is_long = now.since(last) >= long_gap;
        let was_long = std::mem::replace(&mut self.last_gap_was_long, is_long);
        match (was_long, is_long) {
            (true, true) => Pace::Slow,
            (false, true) => Pace::Quiet,
            (_, false) => Pace::Busy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_long_gaps_prove_a_topic_slow() {
        use Pace::*;
        let mut meter = PaceMeter::default();
        let story = [(5, Quiet), (15, Quiet), (25, Slow), (40, Slow), (41, Busy), (51, Quiet), (60, Busy), (61, Busy)];
        for (second, pace) in story {
            assert_eq!(meter.event(Time::from_millis(second * 1_000), Duration::from_secs(10)), pace, "at {second}");
        }
    }
}
