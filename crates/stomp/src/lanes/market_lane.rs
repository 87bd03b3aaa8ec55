//! Market lane: each value is queued once for the whole connection and fanned out to all matching subscriptions when
//! its turn comes. A value for which a subscription has no room is parked for that subscription alone.

use super::backlog::{BACKLOG_BYTES_MAX, Backlog};
use super::conflation_slots::Released;
use super::market_throttle::MarketThrottle;
use super::publish_queue::PriceUpdate;
use super::rate::Rate;
use super::reliable_item::{Broadcast, SubscriptionDelivery};
use crate::monotonic_time::MonotonicTime;
use crate::session::{ConnectionSubscriptions, DeliveryFlags, SubscriptionKey};
use crate::topics::{TopicActivity, TopicId};
use crate::version::StompVersion;

/// Slot key: a topic, or a topic for one subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotKey {
    pub topic: TopicId,
    /// `None`: for all matching subscriptions.
    pub subscription: Option<SubscriptionKey>,
}

/// Market data policy of a connection.
#[derive(Debug)]
enum MarketPolicy {
    Throttled(MarketThrottle<SlotKey, Broadcast>),
    Free(Backlog<SlotKey, Broadcast>),
}

/// A value that is sent to several subscriptions.
#[derive(Debug)]
struct MarketFanOut {
    topic: TopicId,
    value: Broadcast,
    conflated: u64,
    /// Subscriptions that still receive it, the next one last.
    keys: Vec<SubscriptionKey>,
    /// Whether the rate was charged for the next one.
    is_charged: bool,
}

#[derive(Debug)]
pub(super) struct MarketLane {
    policy: MarketPolicy,
    fan_out: Option<MarketFanOut>,
    /// Spare memory for the keys of the next value.
    spare_keys: Vec<SubscriptionKey>,
}

impl MarketLane {
    pub(super) fn throttled(max_rate: Rate) -> Self {
        Self { policy: MarketPolicy::Throttled(MarketThrottle::new(max_rate)), fan_out: None, spare_keys: Vec::new() }
    }

    pub(super) fn free() -> Self {
        Self { policy: MarketPolicy::Free(Backlog::new(BACKLOG_BYTES_MAX)), fan_out: None, spare_keys: Vec::new() }
    }

    pub(super) fn is_throttled(&self) -> bool {
        matches!(self.policy, MarketPolicy::Throttled(_))
    }

    pub(super) fn offer(&mut self, price: PriceUpdate) {
        let PriceUpdate { topic, value, pace, conflated } = price;
        let key = SlotKey { topic, subscription: None };
        match &mut self.policy {
            MarketPolicy::Throttled(throttle) => {
                throttle.offer(key, value, pace);
                throttle.count_conflated(key, conflated);
            }
            MarketPolicy::Free(backlog) => {
                let size = size(&value);
                backlog.offer_conflated(key, value, size, conflated);
            }
        }
    }

    pub(super) fn offer_to_subscription(&mut self, key: SlotKey, value: Broadcast, pace: TopicActivity) {
        match &mut self.policy {
            MarketPolicy::Throttled(throttle) => throttle.offer(key, value, pace),
            MarketPolicy::Free(backlog) => {
                let size = size(&value);
                backlog.offer(key, value, size, false);
            }
        }
    }

    /// A queued value for all subscriptions that also matches this one is newer than the snapshot.
    pub(super) fn offer_snapshot(&mut self, key: SlotKey, value: Broadcast, since: u64) {
        match &mut self.policy {
            MarketPolicy::Throttled(throttle) => {
                let live = throttle.get(SlotKey { subscription: None, ..key });
                if live.is_none_or(|live| live.number <= since) {
                    throttle.offer_snapshot(key, value);
                }
            }
            MarketPolicy::Free(backlog) => {
                let size = size(&value);
                backlog.offer(key, value, size, true);
            }
        }
    }

    pub(super) fn remove_subscription(&mut self, subscription: SubscriptionKey) {
        let is_its = |key: SlotKey| key.subscription == Some(subscription);
        match &mut self.policy {
            MarketPolicy::Throttled(throttle) => throttle.remove_where(is_its),
            MarketPolicy::Free(backlog) => backlog.remove_where(is_its),
        }
        self.fan_out.take_if(|spread| {
            spread.keys.retain(|key| *key != subscription);
            spread.keys.is_empty()
        });
    }

    pub(super) fn clear(&mut self) {
        match &mut self.policy {
            MarketPolicy::Throttled(throttle) => throttle.remove_where(|_| true),
            MarketPolicy::Free(backlog) => backlog.remove_where(|_| true),
        }
        self.fan_out = None;
    }

    pub(super) fn on_room(&mut self) {
        match &mut self.policy {
            MarketPolicy::Throttled(throttle) => throttle.on_room(),
            MarketPolicy::Free(backlog) => backlog.on_room(),
        }
    }

    pub(super) fn next(
        &mut self,
        now: MonotonicTime,
        subscriptions: &ConnectionSubscriptions,
    ) -> Option<SubscriptionDelivery> {
        loop {
            if let Some(delivery) = self.next_fan_out(now, subscriptions) {
                return Some(delivery);
            }
            if self.fan_out.is_some() {
                return None;
            }
            let Released { key, value, conflated, snapshot } = self.release(now, subscriptions)?;
            if let Some(subscription) = key.subscription {
                let marks = DeliveryFlags { snapshot, conflated, ..DeliveryFlags::default() };
                return Some(SubscriptionDelivery { subscription, message: value.message, token: None, flags: marks });
            }
            let mut keys = std::mem::take(&mut self.spare_keys);
            subscriptions.select(&value, &mut keys);
            keys.reverse();
            self.fan_out = Some(MarketFanOut { topic: key.topic, value, conflated, keys, is_charged: true });
        }
    }

    fn release(
        &mut self,
        now: MonotonicTime,
        subscriptions: &ConnectionSubscriptions,
    ) -> Option<Released<SlotKey, Broadcast>> {
        let has_room = |key: SlotKey, value: &Broadcast| has_room(key, value, subscriptions);
        match &mut self.policy {
            MarketPolicy::Throttled(throttle) => throttle.next(now, has_room),
            MarketPolicy::Free(backlog) => backlog.next(has_room),
        }
    }

    /// The next subscription that has room, if the rate allows it.
    fn next_fan_out(
        &mut self,
        now: MonotonicTime,
        subscriptions: &ConnectionSubscriptions,
    ) -> Option<SubscriptionDelivery> {
        let spread = self.fan_out.as_mut()?;
        while let Some(subscription) = spread.keys.last().copied() {
            let key = SlotKey { topic: spread.topic, subscription: Some(subscription) };
            if !subscriptions.has_room(subscription) {
                spread.keys.pop();
                self.policy.park(key, spread.value.clone(), spread.conflated);
                continue;
            }
            if !std::mem::take(&mut spread.is_charged) && !self.policy.charge(now) {
                return None;
            }
            spread.keys.pop();
            let conflated = spread.conflated + self.policy.take_parked(key).map_or(0, |older| conflated_count(&older));
            let marks = DeliveryFlags { conflated, ..DeliveryFlags::default() };
            let message = spread.value.message.clone();
            let ended = self.fan_out.take_if(|spread| spread.keys.is_empty());
            ended.into_iter().for_each(|ended| self.spare_keys = ended.keys);
            return Some(SubscriptionDelivery { subscription, message, token: None, flags: marks });
        }
        self.fan_out = None;
        None
    }

    pub(super) fn wake_at(&mut self, now: MonotonicTime) -> MonotonicTime {
        match &mut self.policy {
            MarketPolicy::Throttled(throttle) if self.fan_out.is_some() => throttle.charge_at(now),
            MarketPolicy::Throttled(throttle) => throttle.wake_at(now),
            MarketPolicy::Free(backlog) if backlog.is_due() || self.fan_out.is_some() => now,
            MarketPolicy::Free(_) => MonotonicTime::NEVER,
        }
    }

    /// Octets that are queued in full.
    pub(super) fn bytes(&self) -> usize {
        match &self.policy {
            MarketPolicy::Throttled(_) => 0,
            MarketPolicy::Free(backlog) => backlog.bytes(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match &self.policy {
            MarketPolicy::Throttled(throttle) => throttle.len(),
            MarketPolicy::Free(backlog) => backlog.len(),
        }
    }
}

impl MarketPolicy {
    /// Whether the last value may be sent to one more subscription now.
    fn charge(&mut self, now: MonotonicTime) -> bool {
        match self {
            Self::Throttled(throttle) => throttle.charge(now),
            Self::Free(_) => true,
        }
    }

    /// Removes the parked value of one subscription: a newer value replaces it.
    fn take_parked(&mut self, key: SlotKey) -> Option<Released<SlotKey, Broadcast>> {
        match self {
            Self::Throttled(throttle) => throttle.take_parked(key),
            Self::Free(backlog) => backlog.take_parked(key),
        }
    }

    fn park(&mut self, key: SlotKey, value: Broadcast, conflated: u64) {
        match self {
            Self::Throttled(throttle) => throttle.park(key, value, conflated),
            Self::Free(backlog) => backlog.park(key, value, conflated),
        }
    }
}

/// How many values an undelivered one counts for; a snapshot counts for none.
fn conflated_count(older: &Released<SlotKey, Broadcast>) -> u64 {
    older.conflated + u64::from(!older.snapshot)
}

/// Whether some subscription has room for the value now. A value that no subscription matches any more need not wait
/// either.
fn has_room(key: SlotKey, value: &Broadcast, subscriptions: &ConnectionSubscriptions) -> bool {
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
    value.message.tail(StompVersion::V12).len()
}
