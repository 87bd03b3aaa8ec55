//! Message queues in memory: each message goes to one consumer, and is redelivered if the consumer does not acknowledge
//! it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::message::StompMessage;
use crate::session::DeliveryToken;
use queue::{MessageQueue, QueueEntry};

pub use queue::{DELIVERIES_MAX, QueueDelivery};

mod queue;

/// Queues that hold a message or have a consumer; a SEND or SUBSCRIBE that needs one more is rejected.
pub const QUEUES_MAX: usize = 1_024;
/// Messages in one queue, those in flight included; one more is rejected.
pub const QUEUE_MESSAGES_MAX: usize = 10_000;
/// Octets in all queues; one more is rejected.
pub const QUEUES_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// Queue of messages that no consumer acknowledges. When it is full, its oldest message is evicted.
pub const DEAD_LETTERS: &str = "ActiveMQ.DLQ";

/// Why a queue rejects a message or a consumer. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueFull {
    Queues { limit: usize },
    Messages { limit: usize },
    Bytes { limit: usize },
}

impl fmt::Display for QueueFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queues { limit } => write!(f, "there are {limit} queues, and no more are made"),
            Self::Messages { limit } => write!(f, "the queue holds {limit} messages and takes no more"),
            Self::Bytes { limit } => write!(f, "the queues hold {limit} octets and take no more"),
        }
    }
}

/// All queues by name. `C` identifies a consumer for the application: one subscription of one connection.
#[derive(Debug)]
pub struct MessageQueues<C> {
    queues: BTreeMap<Box<str>, MessageQueue<C>>,
    bytes: usize,
    next_token: u64,
    dead_letters_dropped: u64,
}

impl<C> Default for MessageQueues<C> {
    fn default() -> Self {
        Self { queues: BTreeMap::new(), bytes: 0, next_token: 1, dead_letters_dropped: 0 }
    }
}

impl<C: Copy + Ord> MessageQueues<C> {
    /// Whether all of these messages, each with its queue and size, can be accepted: a transaction is atomic.
    pub fn check<'a>(&self, sent: impl IntoIterator<Item = (&'a str, usize)>) -> Result<(), QueueFull> {
        let mut added: BTreeMap<&str, usize> = BTreeMap::new();
        let mut bytes = self.bytes;
        for (queue, size) in sent {
            *added.entry(queue).or_default() += 1;
            bytes += size;
        }
        let new = added.keys().filter(|name| !self.queues.contains_key(**name)).count();
        if self.queues.len() + new > QUEUES_MAX {
            return Err(QueueFull::Queues { limit: QUEUES_MAX });
        }
        let held = |name: &str| self.queues.get(name).map_or(0, MessageQueue::len);
        if added.iter().any(|(name, count)| held(name) + count > QUEUE_MESSAGES_MAX) {
            return Err(QueueFull::Messages { limit: QUEUE_MESSAGES_MAX });
        }
        if bytes > QUEUES_BYTES_MAX { Err(QueueFull::Bytes { limit: QUEUES_BYTES_MAX }) } else { Ok(()) }
    }

    /// Accepts a message; `size` is the one that [`MessageQueues::check`] was called with.
    pub fn send(&mut self, queue: &str, message: Arc<StompMessage>, size: usize) -> Result<(), QueueFull> {
        self.check([(queue, size)])?;
        let entry = QueueEntry { message, size, deliveries: 0 };
        self.push(queue, entry);
        Ok(())
    }

    fn push(&mut self, queue: &str, entry: QueueEntry) {
        self.bytes += entry.size;
        let token = DeliveryToken(self.next_token);
        self.next_token += 1;
        self.queues.entry(queue.into()).or_default().push(token, entry);
    }

    /// Adds a consumer; at most `prefetch` messages are in flight to it.
    pub fn add_consumer(&mut self, queue: &str, consumer: C, prefetch: usize) -> Result<(), QueueFull> {
        if self.queues.len() >= QUEUES_MAX && !self.queues.contains_key(queue) {
            return Err(QueueFull::Queues { limit: QUEUES_MAX });
        }
        self.queues.entry(queue.into()).or_default().add_consumer(consumer, prefetch);
        Ok(())
    }

    /// Removes a consumer; its messages in flight are queued again, marked as redelivered.
    pub fn remove_consumer(&mut self, queue: &str, consumer: C) {
        let Some(found) = self.queues.get_mut(queue) else {
            return;
        };
        let dead = found.remove_consumer(consumer);
        self.move_to_dead_letters(queue, dead);
        self.drop_if_idle(queue);
    }

    /// The next message, to the consumers in turn, as far as their prefetch allows and their connection has room.
    pub fn next_delivery(&mut self, queue: &str, takes_more: impl Fn(C) -> bool) -> Option<QueueDelivery<C>> {
        self.queues.get_mut(queue)?.next_delivery(takes_more)
    }

    /// Removes acknowledged messages.
    pub fn acknowledge(&mut self, queue: &str, consumer: C, tokens: &[DeliveryToken]) {
        let Some(found) = self.queues.get_mut(queue) else {
            return;
        };
        self.bytes -= found.acknowledge(consumer, tokens);
        self.drop_if_idle(queue);
    }

    /// Queues these messages again, at their old positions.
    pub fn requeue(&mut self, queue: &str, consumer: C, tokens: &[DeliveryToken]) {
        let Some(found) = self.queues.get_mut(queue) else {
            return;
        };
        let dead = found.requeue(consumer, tokens);
        self.move_to_dead_letters(queue, dead);
        self.drop_if_idle(queue);
    }

    /// Moves messages without an acknowledgement after the last delivery. A dead letter itself is never moved.
    fn move_to_dead_letters(&mut self, queue: &str, dead: Vec<(DeliveryToken, QueueEntry)>) {
        for (token, entry) in dead {
            if queue == DEAD_LETTERS {
                self.queues.entry(queue.into()).or_default().push(token, entry);
                continue;
            }
            self.bytes -= entry.size;
            self.evict_dead_letter();
            self.push(DEAD_LETTERS, QueueEntry { deliveries: 0, ..entry });
        }
    }

    fn evict_dead_letter(&mut self) {
        let Some(letters) = self.queues.get_mut(DEAD_LETTERS).filter(|letters| letters.len() >= QUEUE_MESSAGES_MAX)
        else {
            return;
        };
        if let Some(entry) = letters.drop_oldest() {
            self.bytes -= entry.size;
            self.dead_letters_dropped += 1;
        }
    }

    /// A queue exists as long as it holds a message or has a consumer.
    fn drop_if_idle(&mut self, queue: &str) {
        if self.queues.get(queue).is_some_and(MessageQueue::is_idle) {
            self.queues.remove(queue);
        }
    }

    pub fn len(&self) -> usize {
        self.queues.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Octets that all queues hold.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Dead letters that were evicted for newer ones.
    pub fn dead_letters_dropped(&self) -> u64 {
        self.dead_letters_dropped
    }
}

#[cfg(test)]
mod tests;
