//! Outbound queue of one connection. Publishers push in constant time; the connection drains it and matches messages
//! with its subscriptions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stomp::MonotonicTime;
use stomp::lanes::{Broadcast, OutboundLanes, PublishQueue, SlowConsumer, SubscriptionDelivery};
use stomp::topics::{TopicActivity, TopicId};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::connection::close_reason::CloseReason;

pub(crate) struct OutboundQueue {
    content: Mutex<QueueContent>,
    wake: Notify,
    is_throttled: bool,
    /// Maximum octets.
    limit: usize,
}

struct QueueContent {
    incoming: PublishQueue,
    /// What the connection has drained and not written.
    held: QueueDepth,
    /// Why the connection must end.
    close_reason: Option<CloseReason>,
    /// Messages that arrived after the end.
    undelivered: u64,
}

/// Queued octets of a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueueDepth {
    pub(crate) messages: usize,
    /// Octets of all that is queued in full.
    pub(crate) bytes: usize,
    /// Octets of reliable messages.
    pub(crate) reliable: usize,
    /// Octets of history that were read for it and not put in.
    pub(crate) pages: usize,
    /// When the client last read something, as of the last check.
    pub(crate) progress: MonotonicTime,
}

impl QueueDepth {
    pub(crate) fn from_lanes(lanes: &OutboundLanes, pages: usize, progress: MonotonicTime) -> Self {
        let (messages, bytes) = (lanes.waiting_messages(), lanes.waiting_bytes());
        Self { messages, bytes, reliable: lanes.reliable_bytes(), pages, progress }
    }

    /// Octets that are free again when the connection ends.
    pub(crate) fn returned(&self) -> usize {
        self.reliable + self.pages
    }
}

impl QueueContent {
    fn depth(&self) -> QueueDepth {
        let QueueDepth { messages, bytes, reliable, pages, progress } = self.held;
        let incoming = self.incoming.bytes();
        QueueDepth {
            messages: messages + self.incoming.len(),
            bytes: bytes + incoming,
            reliable: reliable + incoming,
            pages,
            progress,
        }
    }

    /// Nothing more is queued for a connection that ends.
    fn close(&mut self, end: CloseReason) {
        self.close_reason.get_or_insert(end);
        self.undelivered += self.incoming.len() as u64;
        self.incoming = PublishQueue::default();
    }
}

impl OutboundQueue {
    pub(crate) fn new(lanes: &OutboundLanes, limit: usize) -> Arc<Self> {
        let content = QueueContent {
            incoming: PublishQueue::default(),
            held: QueueDepth::default(),
            close_reason: None,
            undelivered: 0,
        };
        let is_throttled = lanes.is_throttled();
        Arc::new(Self { content: Mutex::new(content), wake: Notify::new(), is_throttled, limit })
    }

    /// Market data, of which only the newest value counts.
    pub(crate) fn push_price(&self, topic: TopicId, value: Broadcast, pace: TopicActivity) {
        self.push(|incoming| incoming.push_price(topic, value, pace));
    }

    /// A reliable message, for all matching subscriptions.
    pub(crate) fn push_broadcast(&self, broadcast: Broadcast) {
        self.push(|incoming| incoming.push_broadcast(broadcast));
    }

    /// A message of a queue.
    pub(crate) fn push_delivery(&self, delivery: SubscriptionDelivery) {
        self.push(|incoming| incoming.push_delivery(delivery));
    }

    /// Market data without a rate limit. On an unthrottled port it is conflated when it falls behind, like other market
    /// data; on a throttled port it is reliable.
    pub(crate) fn push_unthrottled(&self, topic: TopicId, value: Broadcast) {
        if self.is_throttled { self.push_broadcast(value) } else { self.push_price(topic, value, TopicActivity::Slow) }
    }

    /// A client whose queue is full is disconnected.
    fn push(&self, put: impl FnOnce(&mut PublishQueue)) {
        let mut content = self.open();
        if content.close_reason.is_some() {
            content.undelivered += 1;
            return;
        }
        put(&mut content.incoming);
        if content.depth().reliable > self.limit {
            content.close(CloseReason::Slow(SlowConsumer::Bytes { limit: self.limit }));
        }
        drop(content);
        self.wake.notify_one();
    }

    /// Whether a source that can wait may send more.
    pub(crate) fn has_room(&self) -> bool {
        let content = self.open();
        content.close_reason.is_none() && OutboundLanes::has_room(content.depth().reliable)
    }

    pub(crate) fn depth(&self) -> QueueDepth {
        self.open().depth()
    }

    /// Ends the connection with an ERROR.
    pub(crate) fn close(&self, end: CloseReason) {
        self.open().close(end);
        self.wake.notify_one();
    }

    /// Why the connection must end.
    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        self.open().close_reason.clone()
    }

    /// Drains the queue into the connection's lanes, and returns why the connection must end, where it must.
    pub(crate) fn drain_into(
        &self,
        lanes: &mut OutboundLanes,
        pages: usize,
        progress: MonotonicTime,
    ) -> Option<CloseReason> {
        let mut content = self.open();
        lanes.drain_incoming(&mut content.incoming);
        content.held = QueueDepth::from_lanes(lanes, pages, progress);
        content.close_reason.clone()
    }

    /// The octets that remain in the connection's lanes.
    pub(crate) fn set_held(&self, held: QueueDepth) {
        self.open().held = held;
    }

    /// Messages that did not get into the lanes.
    pub(crate) fn undelivered(&self) -> u64 {
        let content = self.open();
        content.undelivered + content.incoming.len() as u64
    }

    pub(crate) fn notified(&self) -> Notified<'_> {
        self.wake.notified()
    }

    fn open(&self) -> MutexGuard<'_, QueueContent> {
        // The parts are consistent after every statement under the lock.
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
