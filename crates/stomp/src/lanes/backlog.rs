//! Unthrottled market data: everything is sent while the client keeps up; when the backlog is full, only the newest
//! value of each topic is kept.

use std::collections::VecDeque;

use super::conflation_slots::{ConflationSlots, Released, SlotQueue};

/// Octets of market data that are queued in full; beyond this, values of a topic are conflated.
pub const BACKLOG_BYTES_MAX: usize = 256 * 1_024;

/// The market data of one connection that is not throttled.
#[derive(Debug)]
pub struct Backlog<K, V> {
    waiting: VecDeque<BacklogEntry<K, V>>,
    bytes: usize,
    limit: usize,
    /// Values that arrived when the backlog was full, and values of a subscription whose prefetch is used up.
    slots: ConflationSlots<K, NumberedValue<V>>,
    next_number: u64,
}

#[derive(Debug)]
struct BacklogEntry<K, V> {
    key: K,
    value: NumberedValue<V>,
    size: usize,
    snapshot: bool,
    conflated: u64,
}

/// Values in order of arrival: a slot may hold an older or a newer value than the queue does.
#[derive(Debug)]
struct NumberedValue<V> {
    number: u64,
    value: V,
}

impl<K: Copy + Ord, V> Backlog<K, V> {
    pub fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, limit, slots: ConflationSlots::default(), next_number: 1 }
    }

    pub fn len(&self) -> usize {
        self.waiting.len() + self.slots.len()
    }

    /// Octets that are queued in full.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn offer(&mut self, key: K, value: V, size: usize, snapshot: bool) {
        let value = self.number(value);
        self.push(BacklogEntry { key, value, size, snapshot, conflated: 0 });
    }

    /// An event that replaces `skipped` older ones of its topic.
    pub(crate) fn offer_conflated(&mut self, key: K, value: V, size: usize, conflated: u64) {
        let value = self.number(value);
        self.push(BacklogEntry { key, value, size, snapshot: false, conflated });
    }

    fn number(&mut self, value: V) -> NumberedValue<V> {
        self.next_number += 1;
        NumberedValue { number: self.next_number - 1, value }
    }

    fn push(&mut self, offered: BacklogEntry<K, V>) {
        let is_full = self.bytes + offered.size > self.limit || self.slots.first(SlotQueue::Ordinary).is_some();
        if is_full || self.slots.contains(offered.key) {
            let BacklogEntry { key, value, snapshot, conflated, .. } = offered;
            self.conflate(key, value, snapshot);
            self.slots.count_conflated(key, conflated);
            return;
        }
        self.bytes += offered.size;
        self.waiting.push_back(offered);
    }

    /// Removes the parked value of a key: a newer value replaces it.
    pub(crate) fn take_parked(&mut self, key: K) -> Option<Released<K, V>> {
        self.slots.release(key).map(|released| released.map(|value| value.value))
    }

    /// Parks a value whose subscription has no room.
    pub(crate) fn park(&mut self, key: K, value: V, conflated: u64) {
        let value = self.number(value);
        self.slots.park_value(key, value, conflated);
    }

    fn conflate(&mut self, key: K, value: NumberedValue<V>, snapshot: bool) {
        if let Err(value) = self.slots.replace(key, value, snapshot) {
            self.slots.push(key, value, SlotQueue::Ordinary, snapshot);
        }
    }

    /// The next value for a subscription that has room; values of the others are parked and conflated.
    pub fn next(&mut self, has_room: impl Fn(K, &V) -> bool) -> Option<Released<K, V>> {
        while let Some(first) = self.waiting.pop_front() {
            self.bytes -= first.size;
            let older_waits = self.slots.get(first.key).is_some_and(|slot| slot.number < first.value.number);
            let has_room = has_room(first.key, &first.value.value);
            if has_room && !older_waits {
                let BacklogEntry { key, value, snapshot, conflated, .. } = first;
                return Some(Released { key, value: value.value, conflated, snapshot });
            }
            self.park_or_requeue(first, has_room);
        }
        while let Some(key) = self.slots.first(SlotQueue::Ordinary) {
            if has_room(key, &self.slots.get(key)?.value) {
                return self.take_parked(key);
            }
            self.slots.park(key);
        }
        None
    }

    fn park_or_requeue(&mut self, first: BacklogEntry<K, V>, has_room: bool) {
        let BacklogEntry { key, value, snapshot, conflated, .. } = first;
        if self.slots.get(key).is_some_and(|slot| slot.number > value.number) {
            self.slots.count_conflated(key, 1 + conflated);
        } else {
            self.conflate(key, value, snapshot);
            self.slots.count_conflated(key, conflated);
        }
        if !has_room {
            self.slots.park(key);
        }
    }

    /// A subscription has acknowledged something and may have room again.
    pub fn on_room(&mut self) {
        self.slots.unpark();
    }

    /// Whether a value is queued that its subscription does not hold back.
    pub fn is_due(&self) -> bool {
        !self.waiting.is_empty() || self.slots.first(SlotQueue::Ordinary).is_some()
    }

    pub fn remove_where(&mut self, gone: impl Fn(K) -> bool) {
        self.waiting.retain(|waiting| !gone(waiting.key));
        self.bytes = self.waiting.iter().map(|waiting| waiting.size).sum();
        self.slots.remove_where(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(backlog: &mut Backlog<u32, u32>, has_room: impl Fn(u32) -> bool) -> Vec<(u32, u32, u64)> {
        let mut out = Vec::new();
        while let Some(released) = backlog.next(|key, _| has_room(key)) {
            out.push((released.key, released.value, released.conflated));
        }
        out
    }

    #[test]
    fn everything_passes_while_the_client_keeps_up() {
        let mut backlog = Backlog::new(30);
        (1..=3).for_each(|value| backlog.offer(7, value, 10, false));
        assert_eq!(drain(&mut backlog, |_| true), [(7, 1, 0), (7, 2, 0), (7, 3, 0)]);
        assert!(backlog.is_empty());
    }

    #[test]
    fn a_full_backlog_keeps_the_newest_of_each_topic_in_order() {
        let mut backlog = Backlog::new(20);
        for value in 1..=5 {
            backlog.offer(7, value, 10, false);
            backlog.offer(8, value, 10, false);
        }
        assert_eq!(drain(&mut backlog, |_| true), [(7, 1, 0), (8, 1, 0), (7, 5, 3), (8, 5, 3)]);
    }

    #[test]
    fn a_subscription_without_room_blocks_no_other() {
        let mut backlog = Backlog::new(100);
        [(7, 1), (8, 1), (7, 2)].into_iter().for_each(|(key, value)| backlog.offer(key, value, 10, false));
        assert_eq!(drain(&mut backlog, |key| key == 8), [(8, 1, 0)]);
        assert!(!backlog.is_due());
        backlog.offer(7, 3, 10, false);
        backlog.offer(8, 2, 10, false);
        backlog.on_room();
        assert_eq!(drain(&mut backlog, |_| true), [(8, 2, 0), (7, 3, 2)]);
    }

    #[test]
    fn order_is_kept_when_a_full_backlog_meets_a_subscription_without_room() {
        let mut backlog = Backlog::new(20);
        (1..=4).for_each(|value| backlog.offer(7, value, 10, false));
        assert_eq!(drain(&mut backlog, |_| false), []);
        backlog.on_room();
        assert_eq!(drain(&mut backlog, |_| true), [(7, 4, 3)]);
    }

    #[test]
    fn what_is_forgotten_frees_its_bytes() {
        let mut backlog = Backlog::new(20);
        (1..=4).for_each(|key| backlog.offer(key, 1, 10, false));
        backlog.remove_where(|key| key != 4);
        assert_eq!(drain(&mut backlog, |_| true), [(4, 1, 0)]);
        assert_eq!(backlog.bytes, 0);
    }
}
