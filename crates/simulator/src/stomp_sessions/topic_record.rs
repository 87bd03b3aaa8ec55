//! What topics have to tell by the journal: every message of the kept families with its id, and every order as it was.

use std::collections::BTreeMap;

use bus::history::is_stored;
use domain::{Event, EventClass, PublishedEvent, ReferenceData, Timestamp};
use wire::topics;

use crate::invariants::books::JournalBooks;

/// The promise that all of this is about.
pub(crate) const TOPICS_IN_ORDER: &str = "topics are not in order";

/// The place of an event: the sequence of its input, and its index among the kept events of that sequence.
pub(crate) type KeptPlace = (u64, u32);

/// A message of a family that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptMessage {
    pub(crate) place: KeptPlace,
    pub(crate) destination: String,
    pub(crate) body: String,
}

/// An order as a topic shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderMessage {
    pub(crate) sequence: u64,
    pub(crate) destination: String,
    pub(crate) body: String,
}

/// What the journal has to tell. It grows with every look at the journal: what was durable once does not change.
#[derive(Default)]
pub(crate) struct TopicRecord {
    through: u64,
    pub(crate) kept: Vec<KeptMessage>,
    /// With whether the order is open then.
    pub(crate) orders: Vec<(OrderMessage, bool)>,
    /// Where the messages of a topic are among those of orders.
    by_topic: BTreeMap<String, Vec<usize>>,
    /// How often each body of a generic event is there.
    pub(crate) generic: BTreeMap<String, u64>,
}

impl TopicRecord {
    pub(crate) fn extend(&mut self, books: &JournalBooks) {
        for (sequence, events) in books.events.range(self.through + 1..) {
            let at = books.times.get(sequence).copied().unwrap_or(Timestamp(0));
            self.add_input(*sequence, at, events, books.engine.reference());
        }
        self.through = books.events.last_key_value().map_or(self.through, |(last, _)| self.through.max(*last));
    }

    /// The place of a message among those of orders; behind all where it is none of them.
    pub(super) fn place_of(&self, message: &OrderMessage) -> usize {
        let first = self.orders.partition_point(|(due, _)| due.sequence < message.sequence);
        let same = self.orders[first..].iter().take_while(|(due, _)| due.sequence == message.sequence);
        same.zip(first..).find(|((due, _), _)| due == message).map_or(self.orders.len(), |(_, place)| place)
    }

    /// What was said of an order before a place among the messages of orders.
    pub(super) fn words(&self, topic: &str, before: usize) -> impl DoubleEndedIterator<Item = &OrderMessage> {
        let places = self.by_topic.get(topic).map_or(&[][..], Vec::as_slice);
        let end = places.partition_point(|place| *place < before);
        places[..end].iter().map(|place| &self.orders[*place].0)
    }

    pub(super) fn add_order(&mut self, message: OrderMessage, is_open: bool) {
        self.by_topic.entry(message.destination.clone()).or_default().push(self.orders.len());
        self.orders.push((message, is_open));
    }

    fn add_input(&mut self, sequence: u64, at: Timestamp, events: &[Event], reference: &ReferenceData) {
        let mut index = 0;
        for event in events {
            let class = event.class();
            let place = (sequence, index);
            index += u32::from(is_stored(class));
            // Of the three names of a status one is listened to.
            let Some(root) = topics::roots(event).first() else { continue };
            if !is_stored(class) && class != EventClass::Order {
                continue;
            }
            let destination = format!("/topic/{}", topics::topic(root, event, reference));
            let published = PublishedEvent { sequence, at, event: event.clone() };
            let body = String::from_utf8(topics::body(&published, reference)).unwrap_or_default();
            match event {
                Event::Order(order) => {
                    self.add_order(OrderMessage { sequence, destination, body }, order.is_open());
                    continue;
                }
                Event::Generic(_) => *self.generic.entry(body.clone()).or_default() += 1,
                _ => {}
            }
            self.kept.push(KeptMessage { place, destination, body });
        }
    }
}
