//! One queue: waiting and in-flight messages, round robin over consumers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::message::StompMessage;
use crate::session::DeliveryToken;

/// Deliveries of one message; when the last is not acknowledged, the message becomes a dead letter.
pub const DELIVERIES_MAX: u32 = 6;

/// A message for a consumer; its token comes back with the acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueDelivery<C> {
    pub consumer: C,
    pub token: DeliveryToken,
    pub message: Arc<StompMessage>,
    pub redelivered: bool,
}

/// A message that no consumer has acknowledged yet.
#[derive(Debug)]
pub(super) struct QueueEntry {
    pub(super) message: Arc<StompMessage>,
    pub(super) size: usize,
    /// Number of deliveries to a consumer.
    pub(super) deliveries: u32,
}

#[derive(Debug)]
struct QueueConsumer<C> {
    name: C,
    prefetch: usize,
    in_flight: usize,
}

/// Tokens increase, so a requeued message returns to its old position.
#[derive(Debug)]
pub(super) struct MessageQueue<C> {
    waiting: BTreeMap<DeliveryToken, QueueEntry>,
    in_flight: BTreeMap<DeliveryToken, (C, QueueEntry)>,
    /// The next consumer in turn is in front.
    consumers: VecDeque<QueueConsumer<C>>,
}

impl<C> Default for MessageQueue<C> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), in_flight: BTreeMap::new(), consumers: VecDeque::new() }
    }
}

impl<C> MessageQueue<C> {
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.in_flight.len()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.len() == 0 && self.consumers.is_empty()
    }
}

impl<C: Copy + Ord> MessageQueue<C> {
    pub(super) fn push(&mut self, token: DeliveryToken, entry: QueueEntry) {
        self.waiting.insert(token, entry);
    }

    pub(super) fn drop_oldest(&mut self) -> Option<QueueEntry> {
        self.waiting.pop_first().map(|(_, entry)| entry)
    }

    pub(super) fn add_consumer(&mut self, name: C, prefetch: usize) {
        self.consumers.push_back(QueueConsumer { name, prefetch, in_flight: 0 });
    }

    /// Returns messages without an acknowledgement after the last delivery.
    pub(super) fn remove_consumer(&mut self, name: C) -> Vec<(DeliveryToken, QueueEntry)> {
        self.consumers.retain(|consumer| consumer.name != name);
        let its = self.in_flight.iter().filter(|(_, (owner, _))| *owner == name);
        let tokens: Vec<DeliveryToken> = its.map(|(token, _)| *token).collect();
        self.requeue(name, &tokens)
    }

    pub(super) fn next_delivery(&mut self, takes_more: impl Fn(C) -> bool) -> Option<QueueDelivery<C>> {
        if self.waiting.is_empty() {
            return None;
        }
        let is_free = |consumer: &QueueConsumer<C>| consumer.in_flight < consumer.prefetch && takes_more(consumer.name);
        let free = self.consumers.iter().position(is_free)?;
        let (token, mut entry) = self.waiting.pop_first()?;
        let mut consumer = self.consumers.remove(free)?;
        consumer.in_flight += 1;
        let redelivered = entry.deliveries > 0;
        entry.deliveries += 1;
        let delivery = QueueDelivery { consumer: consumer.name, token, message: entry.message.clone(), redelivered };
        self.in_flight.insert(token, (consumer.name, entry));
        self.consumers.push_back(consumer);
        Some(delivery)
    }

    /// Returns the octets that are released.
    pub(super) fn acknowledge(&mut self, name: C, tokens: &[DeliveryToken]) -> usize {
        tokens.iter().filter_map(|token| self.take_in_flight(name, *token)).map(|entry| entry.size).sum()
    }

    /// Returns messages without an acknowledgement after the last delivery.
    pub(super) fn requeue(&mut self, name: C, tokens: &[DeliveryToken]) -> Vec<(DeliveryToken, QueueEntry)> {
        let mut dead = Vec::new();
        for token in tokens {
            match self.take_in_flight(name, *token) {
                Some(entry) if entry.deliveries >= DELIVERIES_MAX => dead.push((*token, entry)),
                Some(entry) => self.push(*token, entry),
                None => {}
            }
        }
        dead
    }

    fn take_in_flight(&mut self, name: C, token: DeliveryToken) -> Option<QueueEntry> {
        if self.in_flight.get(&token).is_none_or(|(owner, _)| *owner != name) {
            return None;
        }
        let consumer = self.consumers.iter_mut().find(|consumer| consumer.name == name);
        consumer.into_iter().for_each(|consumer| consumer.in_flight -= 1);
        self.in_flight.remove(&token).map(|(_, entry)| entry)
    }
}
