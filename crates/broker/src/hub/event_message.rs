//! Event message: one event of the engine on its way to subscribers. It is encoded on first use, once for all
//! subscribers.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use domain::{Event, PublishedEvent, ReferenceData};
use stomp::{Destination, Headers, StompMessage};
use wire::topics;

use crate::hub::memory_budget::Share;
use crate::translate::{headers, topic_of};

/// The position of an event among all stored ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReplayPosition {
    pub(crate) sequence: u64,
    /// Index among the stored events of that sequence, from zero on.
    pub(crate) index: u32,
}

impl ReplayPosition {
    /// After all events of a sequence.
    pub(crate) fn end_of(sequence: u64) -> Self {
        Self { sequence, index: u32::MAX }
    }

    /// As in the header of a message, from which a subscription can resume.
    pub(crate) fn id(self) -> String {
        format!("{}-{}", self.sequence, self.index)
    }
}

/// An event, and its messages once they are encoded.
pub(crate) struct EventMessage {
    published: PublishedEvent,
    /// Its number among all published events.
    number: u64,
    /// Its position in history, where it is stored.
    position: Option<ReplayPosition>,
    /// One for each of its roots.
    messages: OnceLock<Box<[Arc<StompMessage>]>>,
}

/// Approximate octets of an event beside its body.
pub(crate) const EVENT_BYTES: usize = 1_024;

impl EventMessage {
    /// Approximate octets of event and message. Only bodies of generic events have no bound of their own.
    pub(crate) fn octets(&self) -> usize {
        match &self.published.event {
            Event::Generic(event) => EVENT_BYTES + 2 * event.body.len(),
            _ => EVENT_BYTES,
        }
    }

    pub(crate) fn new(published: PublishedEvent, number: u64, position: Option<ReplayPosition>) -> Arc<Self> {
        Arc::new(Self { published, number, position, messages: OnceLock::new() })
    }

    pub(crate) fn event(&self) -> &Event {
        &self.published.event
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The first segments of its topics.
    pub(crate) fn roots(&self) -> &'static [&'static str] {
        topics::roots(&self.published.event)
    }

    /// Its encoding, by the current reference data.
    pub(crate) fn encoding<'a>(&'a self, reference: &'a ReferenceData) -> Encoding<'a> {
        let (destinations, body) = (OnceCell::new(), OnceCell::new());
        Encoding { published: &self.published, position: self.position, reference, destinations, body }
    }

    /// Its messages, in the order of its roots, encoded now or before.
    pub(crate) fn messages(&self, words: &Encoding<'_>, numbers: &mut MessageIds) -> &[Arc<StompMessage>] {
        self.messages.get_or_init(|| {
            let headers = words.headers();
            let message = |destination| numbers.message(destination, &headers, words.body());
            words.destinations().iter().map(message).collect()
        })
    }
}

/// Topics and body of an event, both computed on first use.
pub(crate) struct Encoding<'a> {
    published: &'a PublishedEvent,
    position: Option<ReplayPosition>,
    reference: &'a ReferenceData,
    destinations: OnceCell<Vec<Destination>>,
    body: OnceCell<Vec<u8>>,
}

impl Encoding<'_> {
    /// Its topics, in the order of its roots.
    pub(crate) fn destinations(&self) -> &[Destination] {
        let event = &self.published.event;
        let named = |root: &&str| {
            let name = topics::topic(root, event, self.reference);
            topic_of(&name).expect("it has a root, and what is no root is encoded")
        };
        self.destinations.get_or_init(|| topics::roots(event).iter().map(named).collect())
    }

    pub(crate) fn headers(&self) -> Headers {
        let mut headers = headers(self.published.sequence);
        self.position.into_iter().for_each(|position| headers.push("event-id", &position.id()));
        headers
    }

    /// Headers on the shared topic, which has no replay.
    pub(crate) fn shared_headers(&self) -> Headers {
        headers(self.published.sequence)
    }

    pub(crate) fn body(&self) -> &[u8] {
        self.body.get_or_init(|| topics::body(self.published, self.reference))
    }

    /// The body for strategy processes, where it differs.
    pub(crate) fn shared_body(&self) -> Option<Vec<u8>> {
        topics::shared_body(&self.published.event, self.reference)
    }
}

/// Numbers messages; copies share the counter.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageIds {
    last: Arc<AtomicU64>,
    /// Octets of all messages in memory.
    held: Arc<AtomicUsize>,
}

impl MessageIds {
    /// The first message has the number after `last`.
    pub(crate) fn after(last: u64, held: &Arc<AtomicUsize>) -> Self {
        Self { last: Arc::new(last.into()), held: held.clone() }
    }

    /// Octets that are held beside messages, unless all would hold more than `limit` then.
    pub(crate) fn share_within(&self, limit: usize, octets: usize) -> Option<Share> {
        Share::within(limit, &self.held, octets)
    }

    /// Octets that all hold together.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    pub(crate) fn message(&mut self, destination: &Destination, headers: &Headers, body: &[u8]) -> Arc<StompMessage> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(StompMessage::new(number, destination, headers, body).counted_in(&self.held))
    }
}
