//! One queue: waiting and in-flight messages, round robin over consumers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::{DELIVERIES_MAX, QueueDelivery};
use crate::message::Message;
use crate::session::Token;

/// A message that no consumer has acknowledged yet.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) message: Arc<Message>,
    pub(super) size: usize,
    /// Number of deliveries to a consumer.
    pub(super) deliveries: u32,
}

#[derive(Debug)]
struct Consumer<C> {
    name: C,
    prefetch: usize,
    under_way: usize,
}

/// Tokens increase, so a requeued message returns to its old position.
#[derive(Debug)]
pub(super) struct Queue<C> {
    waiting: BTreeMap<Token, Entry>,
    under_way: BTreeMap<Token, (C, Entry)>,
    /// The next consumer in turn is in front.
    consumers: VecDeque<Consumer<C>>,
}

impl<C> Default for Queue<C> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), under_way: BTreeMap::new(), consumers: VecDeque::new() }
    }
}

impl<C> Queue<C> {
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.under_way.len()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.len() == 0 && self.consumers.is_empty()
    }
}

impl<C: Copy + Ord> Queue<C> {
    pub(super) fn put(&mut self, token: Token, entry: Entry) {
        self.waiting.insert(token, entry);
    }

    pub(super) fn drop_oldest(&mut self) -> Option<Entry> {
        self.waiting.pop_first().map(|(_, entry)| entry)
    }

    pub(super) fn join(&mut self, name: C, prefetch: usize) {
        self.consumers.push_back(Consumer { name, prefetch, under_way: 0 });
    }

    /// Returns messages without an acknowledgement after the last delivery.
    pub(super) fn leave(&mut self, name: C) -> Vec<(Token, Entry)> {
        self.consumers.retain(|consumer| consumer.name != name);
        let its = self.under_way.iter().filter(|(_, (owner, _))| *owner == name);
        let tokens: Vec<Token> = its.map(|(token, _)| *token).collect();
        self.give_back(name, &tokens)
    }

    pub(super) fn next(&mut self, takes_more: impl Fn(C) -> bool) -> Option<QueueDelivery<C>> {
        if self.waiting.is_empty() {
            return None;
        }
        let is_free = |consumer: &Consumer<C>| consumer.under_way < consumer.prefetch && takes_more(consumer.name);
        let free = self.consumers.iter().position(is_free)?;
        let (token, mut entry) = self.waiting.pop_first()?;
        let mut consumer = self.consumers.remove(free)?;
        consumer.under_way += 1;
        let redelivered = entry.deliveries > 0;
        entry.deliveries += 1;
        let delivery = QueueDelivery { consumer: consumer.name, token, message: entry.message.clone(), redelivered };
        self.under_way.insert(token, (consumer.name, entry));
        self.consumers.push_back(consumer);
        Some(delivery)
    }

    /// Returns the octets that are released.
    pub(super) fn settle(&mut self, name: C, tokens: &[Token]) -> usize {
        tokens.iter().filter_map(|token| self.take_back(name, *token)).map(|entry| entry.size).sum()
    }

    /// Returns messages without an acknowledgement after the last delivery.
    pub(super) fn give_back(&mut self, name: C, tokens: &[Token]) -> Vec<(Token, Entry)> {
        let mut dead = Vec::new();
        for token in tokens {
            match self.take_back(name, *token) {
                Some(entry) if entry.deliveries >= DELIVERIES_MAX => dead.push((*token, entry)),
                Some(entry) => self.put(*token, entry),
                None => {}
            }
        }
        dead
    }

    fn take_back(&mut self, name: C, token: Token) -> Option<Entry> {
        if self.under_way.get(&token).is_none_or(|(owner, _)| *owner != name) {
            return None;
        }
        let consumer = self.consumers.iter_mut().find(|consumer| consumer.name == name);
        consumer.into_iter().for_each(|consumer| consumer.under_way -= 1);
        self.under_way.remove(&token).map(|(_, entry)| entry)
    }
}
