//! Topic activity: slow, quiet or busy, by the last two gaps. One result serves all connections.

use std::time::Duration;

use crate::monotonic_time::MonotonicTime;

/// The activity of a topic at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicActivity {
    /// The last two gaps were both long: a topic that is proven slow passes at once.
    Slow,
    /// The first event, or the first after one long gap.
    Quiet,
    Busy,
}

/// The last two gaps of one topic.
#[derive(Debug, Clone, Copy, Default)]
pub struct ActivityMeter {
    last: Option<MonotonicTime>,
    last_gap_was_long: bool,
}

impl ActivityMeter {
    /// An event happens; a gap of `long_gap` or more is long.
    pub fn on_event(&mut self, now: MonotonicTime, long_gap: Duration) -> TopicActivity {
        let Some(last) = self.last.replace(now) else {
            return TopicActivity::Quiet;
        };
        let is_long = now.since(last) >= long_gap;
        let was_long = std::mem::replace(&mut self.last_gap_was_long, is_long);
        match (was_long, is_long) {
            (true, true) => TopicActivity::Slow,
            (false, true) => TopicActivity::Quiet,
            (_, false) => TopicActivity::Busy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_long_gaps_prove_a_topic_slow() {
        use TopicActivity::*;
        let mut meter = ActivityMeter::default();
        let story = [(5, Quiet), (15, Quiet), (25, Slow), (40, Slow), (41, Busy), (51, Quiet), (60, Busy), (61, Busy)];
        for (second, pace) in story {
            assert_eq!(
                meter.on_event(MonotonicTime::from_millis(second * 1_000), Duration::from_secs(10)),
                pace,
                "at {second}"
            );
        }
    }
}
