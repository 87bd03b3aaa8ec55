//! Market lane: each value is queued once for the whole connection and fanned out to all matching subscriptions when
//! its turn comes. A value for which a subscription has no room is parked for that subscription alone.

use super::arrival::{Broadcast, Delivery};
use super::backlog::{BACKLOG_BYTES_MAX, Backlog};
use super::bucket::Rate;
use super::incoming::Price;
use super::slots::Released;
use super::throttle::Throttle;
use crate::session::{Marks, SubscriptionKey, Subscriptions};
use crate::time::Time;
use crate::topics::{Pace, TopicId};
use crate::version::Version;

/// Slot key: a topic, or a topic for one subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotKey {
    pub topic: TopicId,
    /// `None`: for all matching subscriptions.
    pub subscription: Option<SubscriptionKey>,
}

/// Market data policy of a connection.
#[derive(Debug)]
enum Way {
    Throttled(Throttle<SlotKey, Broadcast>),
    Free(Backlog<SlotKey, Broadcast>),
}

/// A value that is sent to several subscriptions.
#[derive(Debug)]
struct Spread {
    topic: TopicId,
    value: Broadcast,
    conflated: u64,
    /// Subscriptions that still receive it, the next one last.
    keys: Vec<SubscriptionKey>,
    /// Whether the rate was charged for the next one.
    is_paid: bool,
}

#[derive(Debug)]
pub(super) struct Market {
    way: Way,
    spread: Option<Spread>,
    /// Spare memory for the keys of the next value.
    room: Vec<SubscriptionKey>,
}

impl Market {
    pub(super) fn throttled(max_rate: Rate) -> Self {
        Self { way: Way::Throttled(Throttle::new(max_rate)), spread: None, room: Vec::new() }
    }

    pub(super) fn free() -> Self {
        Self { way: Way::Free(Backlog::new(BACKLOG_BYTES_MAX)), spread: None, room: Vec::new() }
    }

    pub(super) fn is_throttled(&self) -> bool {
        matches!(self.way, Way::Throttled(_))
    }

    pub(super) fn offer(&mut self, price: Price) {
        let Price { topic, value, pace, conflated } = price;
        let key = SlotKey { topic, subscription: None };
        match &mut self.way {
            Way::Throttled(throttle) => {
                throttle.offer(key, value, pace);
                throttle.count_conflated(key, conflated);
            }
            Way::Free(backlog) => {
                let size = size(&value);
                backlog.offer_conflated(key, value, size, conflated);
            }
        }
    }

    pub(super) fn offer_to_one(&mut self, key: SlotKey, value: Broadcast, pace: Pace) {
        match &mut self.way {
            Way::Throttled(throttle) => throttle.offer(key, value, pace),
            Way::Free(backlog) => {
                let size = size(&value);
                backlog.offer(key, value, size, false);
            }
        }
    }

    /// A queued value for all subscriptions that also matches this one is newer than the snapshot.
    pub(super) fn offer_snapshot(&mut self, key: SlotKey, value: Broadcast, since: u64) {
        match &mut self.way {
            Way::Throttled(throttle) => {
                let live = throttle.get(SlotKey { subscription: None, ..key });
                if live.is_none_or(|live| live.number <= since) {
                    throttle.offer_snapshot(key, value);
                }
            }
            Way::Free(backlog) => {
                let size = size(&value);
                backlog.offer(key, value, size, true);
            }
        }
    }

    pub(super) fn forget(&mut self, subscription: SubscriptionKey) {
        let is_its = |key: SlotKey| key.subscription == Some(subscription);
        match &mut self.way {
            Way::Throttled(throttle) => throttle.forget(is_its),
            Way::Free(backlog) => backlog.forget(is_its),
        }
        self.spread.take_if(|spread| {
            spread.keys.retain(|key| *key != subscription);
            spread.keys.is_empty()
        });
    }

    pub(super) fn clear(&mut self) {
        match &mut self.way {
            Way::Throttled(throttle) => throttle.forget(|_| true),
            Way::Free(backlog) => backlog.forget(|_| true),
        }
        self.spread = None;
    }

    pub(super) fn room_made(&mut self) {
        match &mut self.way {
            Way::Throttled(throttle) => throttle.room_made(),
            Way::Free(backlog) => backlog.room_made(),
        }
    }

    pub(super) fn next(&mut self, now: Time, subscriptions: &Subscriptions) -> Option<Delivery> {
        loop {
            if let Some(delivery) = self.next_spread(now, subscriptions) {
                return Some(delivery);
            }
            if self.spread.is_some() {
                return None;
            }
            let Released { key, value, conflated, snapshot } = self.release(now, subscriptions)?;
            if let Some(subscription) = key.subscription {
                let marks = Marks { snapshot, conflated, ..Marks::default() };
                return Some(Delivery { subscription, message: value.message, token: None, marks });
            }
            let mut keys = std::mem::take(&mut self.room);
            subscriptions.select(&value, &mut keys);
            keys.reverse();
            self.spread = Some(Spread { topic: key.topic, value, conflated, keys, is_paid: true });
        }
    }

    fn release(&mut self, now: Time, subscriptions: &Subscriptions) -> Option<Released<SlotKey, Broadcast>> {
        let has_room = |key: SlotKey, value: &Broadcast| has_room(key, value, subscriptions);
        match &mut self.way {
            Way::Throttled(throttle) => throttle.next(now, has_room),
            Way::Free(backlog) => backlog.next(has_room),
        }
    }

    /// The next subscription that has room, if the rate allows it.
    fn next_spread(&mut self, now: Time, subscriptions: &Subscriptions) -> Option<Delivery> {
        let spread = self.spread.as_mut()?;
        while let Some(subscription) = spread.keys.last().copied() {
            let key = SlotKey { topic: spread.topic, subscription: Some(subscription) };
            if !subscriptions.has_room(subscription) {
                spread.keys.pop();
                self.way.set_aside(key, spread.value.clone(), spread.conflated);
                continue;
            }
            if !std::mem::take(&mut spread.is_paid) && !self.way.pay(now) {
                return None;
            }
            spread.keys.pop();
            let conflated = spread.conflated + self.way.absorb(key).map_or(0, |older| counted(&older));
            let marks = Marks { conflated, ..Marks::default() };
            let message = spread.value.message.clone();
            let ended = self.spread.take_if(|spread| spread.keys.is_empty());
            ended.into_iter().for_each(|ended| self.room = ended.keys);
            return Some(Delivery { subscription, message, token: None, marks });
        }
        self.spread = None;
        None
    }

    pub(super) fn wake_at(&mut self, now: Time) -> Time {
        match &mut self.way {
            Way::Throttled(throttle) if self.spread.is_some() => throttle.pay_at(now),
            Way::Throttled(throttle) => throttle.wake_at(now),
            Way::Free(backlog) if backlog.is_due() || self.spread.is_some() => now,
            Way::Free(_) => Time::NEVER,
        }
    }

    /// Octets that are queued in full.
    pub(super) fn bytes(&self) -> usize {
        match &self.way {
            Way::Throttled(_) => 0,
            Way::Free(backlog) => backlog.bytes(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match &self.way {
            Way::Throttled(throttle) => throttle.len(),
            Way::Free(backlog) => backlog.len(),
        }
    }
}

impl Way {
    /// Whether the last value may be sent to one more subscription now.
    fn pay(&mut self, now: Time) -> bool {
        match self {
            Self::Throttled(throttle) => throttle.pay(now),
            Self::Free(_) => true,
        }
    }

    /// Removes the parked value of one subscription: a newer value replaces it.
    fn absorb(&mut self, key: SlotKey) -> Option<Released<SlotKey, Broadcast>> {
        match self {
            Self::Throttled(throttle) => throttle.absorb(key),
            Self::Free(backlog) => backlog.absorb(key),
        }
    }

    fn set_aside(&mut self, key: SlotKey, value: Broadcast, conflated: u64) {
        match self {
            Self::Throttled(throttle) => throttle.set_aside(key, value, conflated),
            Self::Free(backlog) => backlog.set_aside(key, value, conflated),
        }
    }
}

/// How many values an undelivered one counts for; a snapshot counts for none.
fn counted(older: &Released<SlotKey, Broadcast>) -> u64 {
    older.conflated + u64::from(!older.snapshot)
}

/// Whether some subscription has room for the value now. A value that no subscription matches any more need not wait
/// either.
fn has_room(key: SlotKey, value: &Broadcast, subscriptions: &Subscriptions) -> bool {
    match key.subscription {
        Some(subscription) => subscriptions.has_room(subscription),
        None if subscriptions.is_automatic() => true,
        None => {
            let mut keys = Vec::new();
            subscriptions.select(value, &mut keys);
            keys.is_empty() || keys.into_iter().any(|key| subscriptions.has_room(key))
        }
    }
}

fn size(value: &Broadcast) -> usize {
    value.message.tail(Version::V12).len()
}
