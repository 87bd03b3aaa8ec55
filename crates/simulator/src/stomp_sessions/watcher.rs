//! A client that looks at orders as they are: a snapshot, then every change.

use std::collections::BTreeMap;

use super::topic_record::{OrderMessage, TOPICS_IN_ORDER, TopicRecord};
use crate::invariants::broken_invariant::{InvariantResult, ensure};

pub(crate) const ORDERS: &str = "/topic/order.>";

/// All subscriptions since the last look at the journal; the newest stays.
#[derive(Default)]
pub(crate) struct Watcher {
    pictures: Vec<Picture>,
}

/// What one subscription was told.
#[derive(Default)]
struct Picture {
    /// By topic.
    snapshot: BTreeMap<String, OrderMessage>,
    changes: Vec<OrderMessage>,
}

impl Watcher {
    /// A new subscription knows nothing of the one before.
    pub(crate) fn begin(&mut self) {
        self.pictures.push(Picture::default());
    }

    /// A message of the subscription; why it cannot be one.
    pub(crate) fn receive(&mut self, message: OrderMessage, is_snapshot: bool) -> Result<(), String> {
        let Some(picture) = self.pictures.last_mut() else { return Err(format!("{message:?} without a subscription")) };
        if !is_snapshot {
            let last = picture.changes.last().filter(|last| last.sequence > message.sequence);
            let refused = last.map(|last| format!("{message:?} comes behind {last:?}"));
            picture.changes.push(message);
            return refused.map_or(Ok(()), Err);
        }
        match picture.snapshot.insert(message.destination.clone(), message) {
            Some(twice) => Err(format!("{twice:?} is in one snapshot twice")),
            None => Ok(()),
        }
    }

    /// Each picture is one that the journal gives; the last one is complete, up to the given sequence.
    pub(crate) fn check(&mut self, name: &str, record: &TopicRecord, complete_through: Option<u64>) -> InvariantResult {
        for picture in &self.pictures {
            picture.check(name, record)?;
        }
        let newest = self.pictures.pop();
        self.pictures.clear();
        if let (Some(newest), Some(through)) = (&newest, complete_through) {
            newest.check_complete(name, record, through)?;
        }
        self.pictures.extend(newest);
        Ok(())
    }
}

impl Picture {
    /// Where its changes begin in the record.
    fn begins(&self, record: &TopicRecord) -> usize {
        let Some(first) = self.changes.first() else { return record.orders.len() };
        record.place_of(first)
    }

    /// The changes are a stretch of the record, and what a snapshot has is the last word before it.
    fn check(&self, name: &str, record: &TopicRecord) -> InvariantResult {
        let begins = self.begins(record);
        for (told, (due, _)) in self.changes.iter().zip(&record.orders[begins..]) {
            ensure(told == due, TOPICS_IN_ORDER, || format!("{name} was told {told:?}, the journal has {due:?}"))?;
        }
        let phantom = self.changes.get(record.orders.len() - begins);
        ensure(phantom.is_none(), TOPICS_IN_ORDER, || format!("{name} was told {phantom:?}, the journal does not"))?;
        for (topic, shown) in &self.snapshot {
            let mut words = record.words(topic, begins);
            // Without a change behind it, it is not known how old the snapshot is.
            let is_word = if self.changes.is_empty() {
                words.any(|due| due.body == shown.body)
            } else {
                words.next_back().is_some_and(|due| due.body == shown.body)
            };
            ensure(is_word, TOPICS_IN_ORDER, || format!("{name} was shown {shown:?}, which it was not"))?;
        }
        Ok(())
    }

    /// Where no change came, the snapshot has the last word of each topic, or one that was said behind the end.
    fn is_up_to_date(&self, name: &str, record: &TopicRecord, through: u64) -> InvariantResult {
        for (topic, shown) in self.snapshot.iter().filter(|_| self.changes.is_empty()) {
            let words: Vec<_> = record.words(topic, record.orders.len()).collect();
            let last = words.iter().rposition(|due| due.sequence <= through).unwrap_or(0);
            let is_last = words[last..].iter().any(|due| due.body == shown.body);
            ensure(is_last, "a topic is incomplete", || format!("{name} was shown {shown:?} and no change of it"))?;
        }
        Ok(())
    }

    /// Nothing that was open is missing, and no change.
    fn check_complete(&self, name: &str, record: &TopicRecord, through: u64) -> InvariantResult {
        let begins = self.begins(record);
        let next = record.orders.get(begins + self.changes.len()).filter(|(due, _)| due.sequence <= through);
        ensure(next.is_none(), "a topic is incomplete", || format!("{name} was never told {next:?}"))?;
        self.is_up_to_date(name, record, through)?;
        let open = &record.orders[..begins];
        let open: BTreeMap<&str, &(OrderMessage, bool)> =
            open.iter().map(|order| (order.0.destination.as_str(), order)).collect();
        let is_known = |topic: &str| {
            self.snapshot.contains_key(topic) || self.changes.iter().any(|change| change.destination == topic)
        };
        let missing = open.iter().find(|(topic, (_, is_open))| *is_open && !is_known(topic));
        ensure(missing.is_none(), "a snapshot is incomplete", || format!("{name} was never shown {missing:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(sequence: u64, body: &str) -> OrderMessage {
        OrderMessage { sequence, destination: "/topic/order.A-1".to_owned(), body: body.to_owned() }
    }

    /// An order that is accepted and filled.
    fn record() -> TopicRecord {
        let mut record = TopicRecord::default();
        record.add_order(order(5, "new"), true);
        record.add_order(order(8, "filled"), false);
        record
    }

    /// What is said of a watcher that was shown the first and told the others, at the end.
    fn watched(shown: OrderMessage, told: &[OrderMessage], through: u64) -> Result<(), &'static str> {
        let mut watcher = Watcher::default();
        watcher.begin();
        watcher.receive(shown, true).unwrap();
        told.iter().for_each(|change| watcher.receive(change.clone(), false).unwrap());
        watcher.check("a client", &record(), Some(through)).map_err(|broken| broken.invariant)
    }

    #[test]
    fn a_watcher_that_was_told_of_no_change_was_shown_the_last_word() {
        assert_eq!(watched(order(5, "new"), &[], 8), Err("a topic is incomplete"));
        assert_eq!(watched(order(8, "filled"), &[], 8), Ok(()));
        assert_eq!(watched(order(5, "new"), &[], 7), Ok(()), "the change is behind the end");
        assert_eq!(watched(order(8, "filled"), &[], 7), Ok(()), "it was shown more than it must be");
    }

    #[test]
    fn a_watcher_that_was_told_of_the_change_may_have_been_shown_what_was_before() {
        assert_eq!(watched(order(5, "new"), &[order(8, "filled")], 8), Ok(()));
    }
}
