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

    /// Nothing that was open is missing, and no change.
    fn check_complete(&self, name: &str, record: &TopicRecord, through: u64) -> InvariantResult {
        let begins = self.begins(record);
        let next = record.orders.get(begins + self.changes.len()).filter(|(due, _)| due.sequence <= through);
        ensure(next.is_none(), "a topic is incomplete", || format!("{name} was never told {next:?}"))?;
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
