//! Reliable lane: orders, positions, log lines. First in, first out, nothing dropped.

use std::collections::{BTreeMap, VecDeque};

use super::reliable_item::{Broadcast, ReliableItem, SubscriptionDelivery};
use crate::session::{ConnectionSubscriptions, DeliveryFlags, SubscriptionKey};

/// Capacity that an empty lane keeps.
const CAPACITY_KEPT: usize = 256;

/// The reliable lane of one connection.
#[derive(Debug, Default)]
pub(crate) struct ReliableLane {
    waiting: VecDeque<ReliableItem>,
    /// The broadcast that is being fanned out, and the subscriptions that still receive it, the next one last.
    fanning_out: Option<Broadcast>,
    keys: Vec<SubscriptionKey>,
    /// Messages of subscriptions that have no room before an acknowledgement.
    parked: BTreeMap<SubscriptionKey, VecDeque<SubscriptionDelivery>>,
    bytes: usize,
    parked_bytes: usize,
}

impl ReliableLane {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.parked_bytes
    }

    /// Octets that wait for an acknowledgement.
    pub(crate) fn parked_bytes(&self) -> usize {
        self.parked_bytes
    }

    /// Messages that are queued.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len() + self.keys.len() + self.parked.values().map(VecDeque::len).sum::<usize>()
    }

    pub(crate) fn push(&mut self, arrival: ReliableItem) {
        self.bytes += arrival.size();
        self.waiting.push_back(arrival);
    }

    /// Appends all of them; the empty queue is swapped in, so that usually nothing is allocated.
    pub(crate) fn append(&mut self, (arrivals, bytes): (&mut VecDeque<ReliableItem>, usize)) {
        self.bytes += bytes;
        if self.waiting.is_empty() {
            std::mem::swap(&mut self.waiting, arrivals);
        } else {
            self.waiting.append(arrivals);
        }
        if arrivals.capacity() > CAPACITY_KEPT {
            *arrivals = VecDeque::new();
        }
    }

    pub(crate) fn next(&mut self, subscriptions: &ConnectionSubscriptions) -> Option<SubscriptionDelivery> {
        self.next_parked(subscriptions).or_else(|| self.next_waiting(subscriptions))
    }

    fn next_parked(&mut self, subscriptions: &ConnectionSubscriptions) -> Option<SubscriptionDelivery> {
        let key = *self.parked.keys().find(|key| subscriptions.has_room(**key))?;
        let lane = self.parked.get_mut(&key)?;
        let next = lane.pop_front()?;
        if lane.is_empty() {
            self.parked.remove(&key);
        }
        self.parked_bytes -= next.size();
        Some(next)
    }

    /// Parks a message whose subscription has no room, and one that would overtake a parked message of the same
    /// subscription.
    fn next_waiting(&mut self, subscriptions: &ConnectionSubscriptions) -> Option<SubscriptionDelivery> {
        loop {
            let next = match self.next_fan_out() {
                Some(next) => next,
                None => match self.pop_waiting()? {
                    ReliableItem::Direct(delivery) => *delivery,
                    ReliableItem::Broadcast(broadcast) => {
                        self.fan_out(broadcast, subscriptions);
                        continue;
                    }
                },
            };
            if let Some(next) = self.park_if_blocked(next, subscriptions) {
                return Some(next);
            }
        }
    }

    /// After a burst its memory is released.
    fn pop_waiting(&mut self) -> Option<ReliableItem> {
        let next = self.waiting.pop_front()?;
        if self.waiting.is_empty() && self.waiting.capacity() > CAPACITY_KEPT {
            self.waiting = VecDeque::new();
        }
        if matches!(next, ReliableItem::Direct(_)) {
            self.bytes -= next.size();
        }
        Some(next)
    }

    fn park_if_blocked(
        &mut self,
        next: SubscriptionDelivery,
        subscriptions: &ConnectionSubscriptions,
    ) -> Option<SubscriptionDelivery> {
        let key = next.subscription;
        if subscriptions.has_room(key) && !self.parked.contains_key(&key) {
            return Some(next);
        }
        self.parked_bytes += next.size();
        self.parked.entry(key).or_default().push_back(next);
        None
    }

    fn fan_out(&mut self, broadcast: Broadcast, subscriptions: &ConnectionSubscriptions) {
        subscriptions.select(&broadcast, &mut self.keys);
        self.keys.reverse();
        self.fanning_out = Some(broadcast);
        self.end_fan_out();
    }

    fn next_fan_out(&mut self) -> Option<SubscriptionDelivery> {
        let subscription = self.keys.pop()?;
        let message = self.fanning_out.as_ref()?.message.clone();
        self.end_fan_out();
        Some(SubscriptionDelivery { subscription, message, token: None, flags: DeliveryFlags::default() })
    }

    /// A broadcast that was sent to all subscriptions no longer counts.
    fn end_fan_out(&mut self) {
        if self.keys.is_empty()
            && let Some(broadcast) = self.fanning_out.take()
        {
            self.bytes -= ReliableItem::Broadcast(broadcast).size();
        }
    }

    /// Whether a message is queued that its subscription may not hold back.
    pub(crate) fn is_due(&self) -> bool {
        !self.waiting.is_empty() || !self.keys.is_empty()
    }

    /// Drops messages that are only for a subscription that has ended.
    pub(crate) fn remove_subscription(&mut self, key: SubscriptionKey) {
        self.keys.retain(|known| *known != key);
        self.end_fan_out();
        let bytes = &mut self.bytes;
        self.waiting.retain(|arrival| {
            let is_its = matches!(arrival, ReliableItem::Direct(delivery) if delivery.subscription == key);
            *bytes -= if is_its { arrival.size() } else { 0 };
            !is_its
        });
        let parked = self.parked.remove(&key).into_iter().flatten();
        self.parked_bytes -= parked.map(|delivery| delivery.size()).sum::<usize>();
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
