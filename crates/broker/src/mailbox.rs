//! Outbound queue of one connection. Publishers push in constant time; the connection drains it and matches messages
//! with its subscriptions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stomp::Time;
use stomp::lanes::{Broadcast, Delivery, Incoming, Lanes, SlowConsumer};
use stomp::topics::{Pace, TopicId};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::ending::End;

pub(crate) struct Mailbox {
    content: Mutex<Content>,
    mail: Notify,
    is_throttled: bool,
    /// Maximum octets.
    limit: usize,
}

struct Content {
    incoming: Incoming,
    /// What the connection has drained and not written.
    held: Waiting,
    /// Why the connection must end.
    end: Option<End>,
    /// Messages that arrived after the end.
    untaken: u64,
}

/// Queued octets of a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waiting {
    pub(crate) messages: usize,
    /// Octets of all that is queued in full.
    pub(crate) bytes: usize,
    /// Octets of reliable messages.
    pub(crate) reliable: usize,
    /// Octets of history that were read for it and not put in.
    pub(crate) pages: usize,
    /// When the client last read something, as of the last check.
    pub(crate) progress: Time,
}

impl Waiting {
    pub(crate) fn of(lanes: &Lanes, pages: usize, progress: Time) -> Self {
        let (messages, bytes) = (lanes.waiting_messages(), lanes.waiting_bytes());
        Self { messages, bytes, reliable: lanes.reliable_bytes(), pages, progress }
    }

    /// Octets that are free again when the connection ends.
    pub(crate) fn returned(&self) -> usize {
        self.reliable + self.pages
    }
}

impl Content {
    fn waiting(&self) -> Waiting {
        let Waiting { messages, bytes, reliable, pages, progress } = self.held;
        let incoming = self.incoming.bytes();
        Waiting {
            messages: messages + self.incoming.len(),
            bytes: bytes + incoming,
            reliable: reliable + incoming,
            pages,
            progress,
        }
    }

    /// Nothing more is queued for a connection that ends.
    fn end(&mut self, end: End) {
        self.end.get_or_insert(end);
        self.untaken += self.incoming.len() as u64;
        self.incoming = Incoming::default();
    }
}

impl Mailbox {
    pub(crate) fn new(lanes: &Lanes, limit: usize) -> Arc<Self> {
        let content = Content { incoming: Incoming::default(), held: Waiting::default(), end: None, untaken: 0 };
        let is_throttled = lanes.is_throttled();
        Arc::new(Self { content: Mutex::new(content), mail: Notify::new(), is_throttled, limit })
    }

    /// Market data, of which only the newest value counts.
    pub(crate) fn price(&self, topic: TopicId, value: Broadcast, pace: Pace) {
        self.put(|incoming| incoming.price(topic, value, pace));
    }

    /// A reliable message, for all matching subscriptions.
    pub(crate) fn broadcast(&self, broadcast: Broadcast) {
        self.put(|incoming| incoming.broadcast(broadcast));
    }

    /// A message of a queue.
    pub(crate) fn deliver(&self, delivery: Delivery) {
        self.put(|incoming| incoming.deliver(delivery));
    }

    /// Market data without a rate limit. On an unthrottled port it is conflated when it falls behind, like other market
    /// data; on a throttled port it is reliable.
    pub(crate) fn unthrottled(&self, topic: TopicId, value: Broadcast) {
        if self.is_throttled { self.broadcast(value) } else { self.price(topic, value, Pace::Slow) }
    }

    /// A client whose queue is full is disconnected.
    fn put(&self, put: impl FnOnce(&mut Incoming)) {
        let mut content = self.open();
        if content.end.is_some() {
            content.untaken += 1;
            return;
        }
        put(&mut content.incoming);
        if content.waiting().reliable > self.limit {
            content.end(End::Slow(SlowConsumer::Bytes { limit: self.limit }));
        }
        drop(content);
        self.mail.notify_one();
    }

    /// Whether a source that can wait may send more.
    pub(crate) fn takes_more(&self) -> bool {
        let content = self.open();
        content.end.is_none() && Lanes::takes_more(content.waiting().reliable)
    }

    pub(crate) fn waiting(&self) -> Waiting {
        self.open().waiting()
    }

    /// Ends the connection with an ERROR.
    pub(crate) fn end(&self, end: End) {
        self.open().end(end);
        self.mail.notify_one();
    }

    /// Why the connection must end.
    pub(crate) fn ended(&self) -> Option<End> {
        self.open().end.clone()
    }

    /// Drains the queue into the connection's lanes, and returns why the connection must end, where it must.
    pub(crate) fn take(&self, lanes: &mut Lanes, pages: usize, progress: Time) -> Option<End> {
        let mut content = self.open();
        lanes.take(&mut content.incoming);
        content.held = Waiting::of(lanes, pages, progress);
        content.end.clone()
    }

    /// The octets that remain in the connection's lanes.
    pub(crate) fn hold(&self, held: Waiting) {
        self.open().held = held;
    }

    /// Messages that did not get into the lanes.
    pub(crate) fn untaken(&self) -> u64 {
        let content = self.open();
        content.untaken + content.incoming.len() as u64
    }

    pub(crate) fn notified(&self) -> Notified<'_> {
        self.mail.notified()
    }

    fn open(&self) -> MutexGuard<'_, Content> {
        // The parts are consistent after every statement under the lock.
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
