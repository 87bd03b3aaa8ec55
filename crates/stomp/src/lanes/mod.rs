//! Outbound lanes of one connection, by priority: control frames, then reliable messages, then market data, of which
//! only the newest value counts.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::message::StompMessage;
use crate::monotonic_time::MonotonicTime;
use crate::session::{ConnectionSubscriptions, SubscriptionKey, WriteOutcome};
use crate::topics::{TopicActivity, TopicId};
use market_lane::MarketLane;
use reliable_item::ReliableItem;
use reliable_lane::ReliableLane;

mod reliable_item;
mod backlog;
mod batch;
mod rate;
mod publish_queue;
mod market_lane;
mod consumer_progress;
mod reliable_lane;
mod conflation_slots;
mod market_throttle;

pub use backlog::{BACKLOG_BYTES_MAX, Backlog};
pub use batch::FrameBatch;
pub use conflation_slots::Released;
pub use consumer_progress::{
    ConsumerPressure, ConsumerProgress, RELIABLE_BYTES_MARK, RELIABLE_BYTES_MAX, RELIABLE_STALL_MAX, RELIABLE_WAIT_MAX,
    SlowConsumer, StallLimits,
};
pub use market_lane::SlotKey;
pub use market_throttle::{MarketThrottle, SNAPSHOTS_PER_SECOND};
pub use publish_queue::{PRICES_QUEUED_MAX, PublishQueue};
pub use rate::{InvalidRate, Rate};
pub use reliable_item::{Broadcast, OVERHEAD_BYTES, SubscriptionDelivery};

/// Octets of control frames that are queued for one connection; beyond this it is disconnected as a slow consumer.
pub const CONTROL_BYTES_MAX: usize = 256 * 1_024;

/// The lanes of one connection.
#[derive(Debug)]
pub struct OutboundLanes {
    control: VecDeque<Cow<'static, [u8]>>,
    control_bytes: usize,
    reliable: ReliableLane,
    market: MarketLane,
}

impl OutboundLanes {
    /// For a port whose market data is throttled.
    pub fn throttled(max_rate: Rate) -> Self {
        Self::new(MarketLane::throttled(max_rate))
    }

    /// For a port whose market data is not throttled.
    pub fn unthrottled() -> Self {
        Self::new(MarketLane::free())
    }

    fn new(market: MarketLane) -> Self {
        Self { control: VecDeque::new(), control_bytes: 0, reliable: ReliableLane::default(), market }
    }

    /// Whether market data is throttled.
    pub fn is_throttled(&self) -> bool {
        self.market.is_throttled()
    }

    /// A control frame or a heart-beat. The final frame before a close is queued even when the lane is full.
    pub fn push_control(&mut self, frame: Cow<'static, [u8]>) -> Result<(), SlowConsumer> {
        self.control_bytes += frame.len();
        self.control.push_back(frame);
        if self.control_bytes > CONTROL_BYTES_MAX {
            return Err(SlowConsumer::Control { limit: CONTROL_BYTES_MAX });
        }
        Ok(())
    }

    /// Drains what publishers pushed.
    pub fn drain_incoming(&mut self, incoming: &mut PublishQueue) {
        self.reliable.append(incoming.drain_reliable());
        incoming.drain_prices(|price| self.market.offer(price));
    }

    /// A message that must not be lost, for one subscription.
    pub fn push_reliable(&mut self, delivery: SubscriptionDelivery) {
        self.reliable.push(ReliableItem::Direct(delivery.into()));
    }

    /// Whether a source that can wait, such as a queue, may send more when so many octets are queued. The lane would
    /// accept it, but then messages of other sources could turn a slow but working consumer into a disconnected one.
    pub fn has_room(waiting: usize) -> bool {
        waiting * 4 <= RELIABLE_BYTES_MARK
    }

    /// A message for one subscription of which only the newest value of the topic counts.
    pub fn push_market(
        &mut self,
        subscription: SubscriptionKey,
        topic: TopicId,
        message: Arc<StompMessage>,
        pace: TopicActivity,
    ) {
        self.market.offer_to_subscription(SlotKey { topic, subscription: Some(subscription) }, unicast(message), pace);
    }

    /// The last value of a market topic, for a new subscription that receives broadcasts with numbers greater than
    /// `since`.
    pub fn push_market_snapshot(
        &mut self,
        subscription: SubscriptionKey,
        topic: TopicId,
        message: Arc<StompMessage>,
        since: u64,
    ) {
        let key = SlotKey { topic, subscription: Some(subscription) };
        self.market.offer_snapshot(key, unicast(message), since);
    }

    /// The subscription has ended; none of its messages is sent any more.
    pub fn remove_subscription(&mut self, subscription: SubscriptionKey) {
        self.reliable.remove_subscription(subscription);
        self.market.remove_subscription(subscription);
    }

    /// The connection ends: only control frames are sent any more.
    pub fn clear(&mut self) {
        self.reliable.clear();
        self.market.clear();
    }

    /// Something was acknowledged, so a subscription may have room again.
    pub fn on_room(&mut self) {
        self.market.on_room();
    }

    /// Fills a batch up to about `room` octets. Small batches keep market data in the lanes, where it can still be
    /// conflated.
    pub fn drain(
        &mut self,
        now: MonotonicTime,
        room: usize,
        subscriptions: &mut ConnectionSubscriptions,
        batch: &mut FrameBatch,
    ) {
        batch.begin(subscriptions.version());
        while batch.bytes() < room {
            let Some(frame) = self.control.pop_front() else {
                break;
            };
            self.control_bytes -= frame.len();
            batch.push(&frame);
        }
        while batch.bytes() < room {
            let Some(delivery) = self.reliable.next(subscriptions) else {
                break;
            };
            write_delivery(delivery, subscriptions, batch);
        }
        while batch.bytes() < room {
            let Some(delivery) = self.market.next(now, subscriptions) else {
                break;
            };
            write_delivery(delivery, subscriptions, batch);
        }
    }

    /// When [`OutboundLanes::drain`] has something to do: now, or when the rate allows it, or never.
    pub fn wake_at(&mut self, now: MonotonicTime) -> MonotonicTime {
        if !self.control.is_empty() || self.reliable.is_due() { now } else { self.market.wake_at(now) }
    }

    /// Octets of reliable messages.
    pub fn reliable_bytes(&self) -> usize {
        self.reliable.bytes()
    }

    /// Those of them that wait for an acknowledgement.
    pub fn unacknowledged_bytes(&self) -> usize {
        self.reliable.parked_bytes()
    }

    /// Octets that are queued in full, without conflated values.
    pub fn waiting_bytes(&self) -> usize {
        self.control_bytes + self.reliable.bytes() + self.market.bytes()
    }

    /// Messages that are queued.
    pub fn waiting_messages(&self) -> usize {
        self.reliable.len() + self.market.len()
    }
}

/// A message for one subscription needs no number.
fn unicast(message: Arc<StompMessage>) -> Broadcast {
    Broadcast { message, number: 0, is_own: false, is_reserved: false }
}

fn write_delivery(delivery: SubscriptionDelivery, subscriptions: &mut ConnectionSubscriptions, batch: &mut FrameBatch) {
    let SubscriptionDelivery { subscription, message, token, flags: marks } = delivery;
    let begin = batch.heads().len();
    match subscriptions.write_head(subscription, &message, token, marks, batch.heads()) {
        WriteOutcome::Gone => {}
        WriteOutcome::AwaitingAck => batch.push_message(begin, message, marks.conflated),
        WriteOutcome::Acknowledged => {
            batch.push_message(begin, message, marks.conflated);
            token.into_iter().for_each(|token| batch.acknowledge(subscription, token));
        }
    }
}

#[cfg(test)]
mod tests;
