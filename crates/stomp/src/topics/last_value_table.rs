//! Last-value table: newest value and activity of each topic, for new subscriptions.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::time::Duration;

use crate::monotonic_time::MonotonicTime;

/// Topics of a table, unless the application sets another limit.
pub const TOPICS_MAX: usize = 1_048_576;

/// A topic of one table; ids are not reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopicId(pub u64);

/// The table is full: the event was not recorded, and the activity of its topic is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyTopics {
    pub limit: usize,
}

impl fmt::Display for TooManyTopics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} topics have a last value", self.limit)
    }
}

impl std::error::Error for TooManyTopics {}

/// Entry of one topic.
#[derive(Debug)]
pub struct TopicEntry<V> {
    pub id: TopicId,
    pub last: V,
    meter: ActivityMeter,
}

/// The last value of each topic. `K` identifies a topic for the application, `V` is its value: the message, or data
/// from which it is encoded on demand.
#[derive(Debug)]
pub struct LastValueTable<K, V> {
    topics: BTreeMap<K, TopicEntry<V>>,
    limit: usize,
    long_gap: Duration,
    next_id: u64,
}

impl<K: Ord, V> LastValueTable<K, V> {
    /// A gap of `long_gap` or more between two events of a topic is long: one over the rate below which a topic is
    /// slow.
    pub fn new(limit: usize, long_gap: Duration) -> Self {
        Self { topics: BTreeMap::new(), limit, long_gap, next_id: 1 }
    }

    pub fn len(&self) -> usize {
        self.topics.len()
    }

    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// Records the newest value of a topic.
    pub fn update(&mut self, now: MonotonicTime, key: K, value: V) -> Result<(TopicId, TopicActivity), TooManyTopics> {
        if let Some(topic) = self.topics.get_mut(&key) {
            topic.last = value;
            return Ok((topic.id, topic.meter.on_event(now, self.long_gap)));
        }
        if self.topics.len() >= self.limit {
            return Err(TooManyTopics { limit: self.limit });
        }
        let mut topic = TopicEntry { id: TopicId(self.next_id), last: value, meter: ActivityMeter::default() };
        self.next_id += 1;
        let answer = (topic.id, topic.meter.on_event(now, self.long_gap));
        self.topics.insert(key, topic);
        Ok(answer)
    }

    pub fn id_of(&self, key: &K) -> Option<TopicId> {
        self.topics.get(key).map(|topic| topic.id)
    }

    /// The values for a new subscription, from the first topic or from after `key` on.
    pub fn iter_after(&self, key: Option<&K>) -> impl Iterator<Item = (&K, &TopicEntry<V>)> {
        self.topics.range((key.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded))
    }
}

/// The activity of a topic at an event, by the last two gaps. One result serves all connections.
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

    fn at(seconds: u64) -> MonotonicTime {
        MonotonicTime::from_millis(seconds * 1_000)
    }

    #[test]
    fn the_last_value_of_each_topic_is_known() {
        let mut book = LastValueTable::new(3, Duration::from_secs(10));
        assert_eq!(book.update(at(0), "tick.1", 'a'), Ok((TopicId(1), TopicActivity::Quiet)));
        assert_eq!(book.update(at(1), "tick.1", 'b'), Ok((TopicId(1), TopicActivity::Busy)));
        assert_eq!(book.update(at(1), "tick.2", 'c'), Ok((TopicId(2), TopicActivity::Quiet)));
        assert_eq!(book.update(at(1), "trade.1", 'd'), Ok((TopicId(3), TopicActivity::Quiet)));
        let last = |behind: Option<&&str>| book.iter_after(behind).map(|(_, topic)| topic.last).collect::<String>();
        assert_eq!([last(None), last(Some(&"tick.1")), last(Some(&"trade.1"))], ["bcd", "cd", ""]);
        assert_eq!((book.id_of(&"tick.2"), book.id_of(&"tick.3")), (Some(TopicId(2)), None));
    }

    #[test]
    fn a_full_book_refuses_new_topics_only() {
        let mut book = LastValueTable::new(1, Duration::from_secs(10));
        assert!(book.update(at(0), 1, 'a').is_ok());
        assert_eq!(book.update(at(0), 2, 'b'), Err(TooManyTopics { limit: 1 }));
        assert!(book.update(at(0), 1, 'c').is_ok());
        assert_eq!(book.len(), 1);
    }

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
