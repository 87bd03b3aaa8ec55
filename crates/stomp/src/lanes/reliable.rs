//! Reliable lane: orders, positions, log lines. First in, first out, nothing dropped.

use std::collections::{BTreeMap, VecDeque};

use super::arrival::{Arrival, Broadcast, Delivery};
use crate::session::{Marks, SubscriptionKey, Subscriptions};

/// Capacity that an empty lane keeps.
const PLACES_KEPT: usize = 256;

/// The reliable lane of one connection.
#[derive(Debug, Default)]
pub(crate) struct Reliable {
    waiting: VecDeque<Arrival>,
    /// The broadcast that is being fanned out, and the subscriptions that still receive it, the next one last.
    spreading: Option<Broadcast>,
    keys: Vec<SubscriptionKey>,
    /// Messages of subscriptions that have no room before an acknowledgement.
    parked: BTreeMap<SubscriptionKey, VecDeque<Delivery>>,
    bytes: usize,
    parked_bytes: usize,
}

impl Reliable {
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

    pub(crate) fn push(&mut self, arrival: Arrival) {
        self.bytes += arrival.size();
        self.waiting.push_back(arrival);
    }

    /// Appends all of them; the empty queue is swapped in, so that usually nothing is allocated.
    pub(crate) fn append(&mut self, (arrivals, bytes): (&mut VecDeque<Arrival>, usize)) {
        self.bytes += bytes;
        if self.waiting.is_empty() {
            std::mem::swap(&mut self.waiting, arrivals);
        } else {
            self.waiting.append(arrivals);
        }
        if arrivals.capacity() > PLACES_KEPT {
            *arrivals = VecDeque::new();
        }
    }

    pub(crate) fn next(&mut self, subscriptions: &Subscriptions) -> Option<Delivery> {
        self.next_parked(subscriptions).or_else(|| self.next_waiting(subscriptions))
    }

    fn next_parked(&mut self, subscriptions: &Subscriptions) -> Option<Delivery> {
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
    fn next_waiting(&mut self, subscriptions: &Subscriptions) -> Option<Delivery> {
        loop {
            let next = match self.next_spread() {
                Some(next) => next,
                None => match self.pop_waiting()? {
                    Arrival::ToOne(delivery) => *delivery,
                    Arrival::ToAll(broadcast) => {
                        self.spread(broadcast, subscriptions);
                        continue;
                    }
                },
            };
            if let Some(next) = self.unless_parked(next, subscriptions) {
                return Some(next);
            }
        }
    }

    /// After a burst its memory is released.
    fn pop_waiting(&mut self) -> Option<Arrival> {
        let next = self.waiting.pop_front()?;
        if self.waiting.is_empty() && self.waiting.capacity() > PLACES_KEPT {
            self.waiting = VecDeque::new();
        }
        if matches!(next, Arrival::ToOne(_)) {
            self.bytes -= next.size();
        }
        Some(next)
    }

    fn unless_parked(&mut self, next: Delivery, subscriptions: &Subscriptions) -> Option<Delivery> {
        let key = next.subscription;
        if subscriptions.has_room(key) && !self.parked.contains_key(&key) {
            return Some(next);
        }
        self.parked_bytes += next.size();
        self.parked.entry(key).or_default().push_back(next);
        None
    }

    fn spread(&mut self, broadcast: Broadcast, subscriptions: &Subscriptions) {
        subscriptions.select(&broadcast, &mut self.keys);
        self.keys.reverse();
        self.spreading = Some(broadcast);
        self.end_spread();
    }

    fn next_spread(&mut self) -> Option<Delivery> {
        let subscription = self.keys.pop()?;
        let message = self.spreading.as_ref()?.message.clone();
        self.end_spread();
        Some(Delivery { subscription, message, token: None, marks: Marks::default() })
    }

    /// A broadcast that was sent to all subscriptions no longer counts.
    fn end_spread(&mut self) {
        if self.keys.is_empty()
            && let Some(broadcast) = self.spreading.take()
        {
            self.bytes -= Arrival::ToAll(broadcast).size();
        }
    }

    /// Whether a message is queued that its subscription may not hold back.
    pub(crate) fn is_due(&self) -> bool {
        !self.waiting.is_empty() || !self.keys.is_empty()
    }

    /// Drops messages that are only for a subscription that has ended.
    pub(crate) fn forget(&mut self, key: SubscriptionKey) {
        self.keys.retain(|known| *known != key);
        self.end_spread();
        let bytes = &mut self.bytes;
        self.waiting.retain(|arrival| {
            let is_its = matches!(arrival, Arrival::ToOne(delivery) if delivery.subscription == key);
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
