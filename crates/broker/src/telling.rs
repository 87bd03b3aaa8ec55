//! An event on its way to those who listen. It is put into words when somebody needs them, and then once for all.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use domain::{Event, Published, ReferenceData};
use stomp::{Destination, Headers, Message};
use wire::topics;

use crate::recent::Position;
use crate::translate::{headers, topic_of};

/// An event, and its messages from the moment on when somebody needed one.
pub(crate) struct Telling {
    published: Published,
    /// Its place among all events that were told.
    number: u64,
    /// Where history has it, where it does.
    position: Option<Position>,
    /// One for each of its roots.
    messages: OnceLock<Box<[Arc<Message>]>>,
}

/// What an event takes beside its body, about.
const EVENT_BYTES: usize = 1_024;

impl Telling {
    /// What it takes, about: event and message. Only bodies of generic events have no bound of their own.
    pub(crate) fn octets(&self) -> usize {
        match &self.published.event {
            Event::Generic(event) => EVENT_BYTES + 2 * event.body.len(),
            _ => EVENT_BYTES,
        }
    }

    pub(crate) fn new(published: Published, number: u64, position: Option<Position>) -> Arc<Self> {
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

    /// How it is said by the names of this moment.
    pub(crate) fn words<'a>(&'a self, reference: &'a ReferenceData) -> Words<'a> {
        let (destinations, body) = (OnceCell::new(), OnceCell::new());
        Words { published: &self.published, position: self.position, reference, destinations, body }
    }

    /// Its messages, in the order of its roots: written now, or by whoever needed them before.
    pub(crate) fn messages(&self, words: &Words<'_>, numbers: &mut MessageNumbers) -> &[Arc<Message>] {
        self.messages.get_or_init(|| {
            let headers = words.headers();
            let message = |destination| numbers.message(destination, &headers, words.body());
            words.destinations().iter().map(message).collect()
        })
    }
}

/// What an event is called and says; both are found when they are first asked for.
pub(crate) struct Words<'a> {
    published: &'a Published,
    position: Option<Position>,
    reference: &'a ReferenceData,
    destinations: OnceCell<Vec<Destination>>,
    body: OnceCell<Vec<u8>>,
}

impl Words<'_> {
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

    /// Those on the topic that strategies share, where nothing is replayed.
    pub(crate) fn shared_headers(&self) -> Headers {
        headers(self.published.sequence)
    }

    pub(crate) fn body(&self) -> &[u8] {
        self.body.get_or_init(|| topics::body(self.published, self.reference))
    }

    /// What strategies in processes of their own read, where it is not the body.
    pub(crate) fn shared_body(&self) -> Option<Vec<u8>> {
        topics::shared_body(&self.published.event, self.reference)
    }
}

/// Gives every message its number; copies go on with the same numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageNumbers {
    last: Arc<AtomicU64>,
    /// Octets of all messages that somebody holds.
    held: Arc<AtomicUsize>,
}

impl MessageNumbers {
    /// The first message has the number behind `last`.
    pub(crate) fn behind(last: u64, held: &Arc<AtomicUsize>) -> Self {
        Self { last: Arc::new(last.into()), held: held.clone() }
    }

    pub(crate) fn message(&mut self, destination: &Destination, headers: &Headers, body: &[u8]) -> Arc<Message> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(Message::new(number, destination, headers, body).counted_in(&self.held))
    }
}
