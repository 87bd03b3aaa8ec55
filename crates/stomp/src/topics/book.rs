//! What was said last on each topic, for those who subscribe late, and how often something is said.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::pace::{Pace, PaceMeter};
use crate::destination::{Destination, Pattern};
use crate::message::Message;
use crate::time::Time;

/// Topics that a book remembers, unless the application chooses another limit.
pub const TOPICS_MAX: usize = 1_048_576;

/// A topic of one book; never given twice there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopicId(pub u64);

/// The book is full: the event was not written down, and nothing is known about its pace.
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

/// What the book knows about one topic.
#[derive(Debug)]
pub struct Topic {
    pub id: TopicId,
    pub last: Arc<Message>,
    /// The last about each subject, where the topic speaks about several.
    about: BTreeMap<String, Arc<Message>>,
    meter: PaceMeter,
}

impl Topic {
    /// All that a late subscriber has to hear: the last message about each subject.
    pub fn last_words(&self) -> impl Iterator<Item = &Arc<Message>> {
        let only = self.about.is_empty().then_some(&self.last);
        self.about.values().chain(only)
    }
}

/// The last message of each topic.
#[derive(Debug)]
pub struct Book {
    topics: BTreeMap<Destination, Topic>,
    limit: usize,
    long_gap: Duration,
    next_id: u64,
}

impl Book {
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

    /// Writes down the newest message of a topic.
    pub fn record(
        &mut self,
        now: Time,
        destination: &Destination,
        message: &Arc<Message>,
    ) -> Result<(TopicId, Pace), TooManyTopics> {
        if let Some(topic) = self.topics.get_mut(destination) {
            topic.last = message.clone();
            return Ok((topic.id, topic.meter.event(now, self.long_gap)));
        }
        if self.topics.len() >= self.limit {
            return Err(TooManyTopics { limit: self.limit });
        }
        let (id, last) = (TopicId(self.next_id), message.clone());
        let mut topic = Topic { id, last, about: BTreeMap::new(), meter: PaceMeter::default() };
        self.next_id += 1;
        let answer = (topic.id, topic.meter.event(now, self.long_gap));
        self.topics.insert(destination.clone(), topic);
        Ok(answer)
    }

    /// The same of a topic that speaks about several subjects: what was said about another still stands.
    pub fn record_about(
        &mut self,
        now: Time,
        destination: &Destination,
        subject: &str,
        message: &Arc<Message>,
    ) -> Result<(TopicId, Pace), TooManyTopics> {
        let answer = self.record(now, destination, message)?;
        if let Some(topic) = self.topics.get_mut(destination) {
            topic.about.insert(subject.to_owned(), message.clone());
        }
        Ok(answer)
    }

    pub fn id_of(&self, destination: &Destination) -> Option<TopicId> {
        self.topics.get(destination).map(|topic| topic.id)
    }

    /// The topic will not be heard of again: an order that is done.
    pub fn forget(&mut self, destination: &Destination) -> bool {
        self.topics.remove(destination).is_some()
    }

    /// The last values that a new subscription is to see.
    pub fn matching(&self, pattern: &Pattern) -> impl Iterator<Item = (&Destination, &Topic)> {
        self.topics.iter().filter(|(destination, _)| pattern.matches(destination))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::Headers;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    fn message(id: u64, topic: &Destination) -> Arc<Message> {
        Arc::new(Message::new(id, topic, &Headers::default(), b""))
    }

    #[test]
    fn the_last_value_of_each_matching_topic_is_known() {
        let mut book = Book::new(3, Duration::from_secs(10));
        let [one, two, other] =
            ["/topic/tick.1", "/topic/tick.2", "/topic/trade.1"].map(|t| Destination::parse(t).unwrap());
        assert_eq!(book.record(at(0), &one, &message(1, &one)), Ok((TopicId(1), Pace::Quiet)));
        assert_eq!(book.record(at(1), &one, &message(2, &one)), Ok((TopicId(1), Pace::Busy)));
        assert_eq!(book.record(at(1), &two, &message(3, &two)), Ok((TopicId(2), Pace::Quiet)));
        assert_eq!(book.record(at(1), &other, &message(4, &other)), Ok((TopicId(3), Pace::Quiet)));
        let ticks = Pattern::parse("/topic/tick.*").unwrap();
        let last: Vec<u64> = book.matching(&ticks).map(|(_, topic)| topic.last.id()).collect();
        assert_eq!(last, [2, 3]);
    }

    #[test]
    fn of_a_topic_with_several_subjects_the_last_about_each_is_known() {
        let mut book = Book::new(1, Duration::from_secs(10));
        let topic = Destination::parse("/topic/session.FIX").unwrap();
        for (id, subject) in [(1, "ALPHA"), (2, "BETA"), (3, "ALPHA")] {
            book.record_about(at(id), &topic, subject, &message(id, &topic)).unwrap();
        }
        let all = Pattern::parse("/topic/>").unwrap();
        let last: Vec<u64> = book.matching(&all).flat_map(|(_, topic)| topic.last_words()).map(|m| m.id()).collect();
        assert_eq!(last, [3, 2]);
    }

    #[test]
    fn a_full_book_refuses_new_topics_only() {
        let mut book = Book::new(1, Duration::from_secs(10));
        let [one, two] = ["/topic/tick.1", "/topic/tick.2"].map(|text| Destination::parse(text).unwrap());
        assert!(book.record(at(0), &one, &message(1, &one)).is_ok());
        assert_eq!(book.record(at(0), &two, &message(2, &two)), Err(TooManyTopics { limit: 1 }));
        assert!(book.record(at(0), &one, &message(3, &one)).is_ok());
        assert!(book.forget(&one));
        assert_eq!(book.record(at(0), &two, &message(4, &two)), Ok((TopicId(2), Pace::Quiet)));
    }
}
