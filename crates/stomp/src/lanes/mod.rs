//! Outbound lanes of one connection, by priority: control frames, then reliable messages, then market data, of which
//! only the newest value counts.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::message::Message;
use crate::session::{SubscriptionKey, Subscriptions, Written};
use crate::time::Time;
use crate::topics::{Pace, TopicId};
use arrival::Arrival;
use market::Market;
use reliable::Reliable;

mod arrival;
mod backlog;
mod batch;
mod bucket;
mod incoming;
mod market;
mod progress;
mod reliable;
mod slots;
mod throttle;

pub use arrival::{Broadcast, Delivery, OVERHEAD_BYTES};
pub use backlog::{BACKLOG_BYTES_MAX, Backlog};
pub use batch::Batch;
pub use bucket::{NotARate, Rate};
pub use incoming::{Incoming, PRICES_WAITING_MAX};
pub use market::SlotKey;
pub use progress::{
    Patience, Pressure, Progress, RELIABLE_BYTES_MARK, RELIABLE_BYTES_MAX, RELIABLE_STALL_MAX, RELIABLE_WAIT_MAX,
    SlowConsumer,
};
pub use slots::Released;
pub use throttle::{SNAPSHOTS_PER_SECOND, Throttle};

/// Octets of control frames that are queued for one connection; beyond this it is disconnected as a slow consumer.
pub const CONTROL_BYTES_MAX: usize = 256 * 1_024;

/// The lanes of one connection.
#[derive(Debug)]
pub struct Lanes {
    control: VecDeque<Cow<'static, [u8]>>,
    control_bytes: usize,
    reliable: Reliable,
    market: Market,
}

impl Lanes {
    /// For a port whose market data is throttled.
    pub fn throttled(max_rate: Rate) -> Self {
        Self::new(Market::throttled(max_rate))
    }

    /// For a port whose market data is not throttled.
    pub fn free() -> Self {
        Self::new(Market::free())
    }

    fn new(market: Market) -> Self {
        Self { control: VecDeque::new(), control_bytes: 0, reliable: Reliable::default(), market }
    }

    /// Whether market data is throttled.
    pub fn is_throttled(&self) -> bool {
        self.market.is_throttled()
    }

    /// A control frame or a heart-beat. The final frame before a close is queued even when the lane is full.
    pub fn control(&mut self, frame: Cow<'static, [u8]>) -> Result<(), SlowConsumer> {
        self.control_bytes += frame.len();
        self.control.push_back(frame);
        if self.control_bytes > CONTROL_BYTES_MAX {
            return Err(SlowConsumer::Control { limit: CONTROL_BYTES_MAX });
        }
        Ok(())
    }

    /// Drains what publishers pushed.
    pub fn take(&mut self, incoming: &mut Incoming) {
        self.reliable.append(incoming.take_reliable());
        incoming.take_prices(|price| self.market.offer(price));
    }

    /// A message that must not be lost, for one subscription.
    pub fn reliable(&mut self, delivery: Delivery) {
        self.reliable.push(Arrival::ToOne(delivery.into()));
    }

    /// Whether a source that can wait, such as a queue, may send more when so many octets are queued. The lane would
    /// accept it, but then messages of other sources could turn a slow but working consumer into a disconnected one.
    pub fn takes_more(waiting: usize) -> bool {
        waiting * 4 <= RELIABLE_BYTES_MARK
    }

    /// A message for one subscription of which only the newest value of the topic counts.
    pub fn market(&mut self, subscription: SubscriptionKey, topic: TopicId, message: Arc<Message>, pace: Pace) {
        self.market.offer_to_one(SlotKey { topic, subscription: Some(subscription) }, to_one(message), pace);
    }

    /// The last value of a market topic, for a new subscription that receives broadcasts with numbers greater than
    /// `since`.
    pub fn market_snapshot(
        &mut self,
        subscription: SubscriptionKey,
        topic: TopicId,
        message: Arc<Message>,
        since: u64,
    ) {
        let key = SlotKey { topic, subscription: Some(subscription) };
        self.market.offer_snapshot(key, to_one(message), since);
    }

    /// The subscription has ended; none of its messages is sent any more.
    pub fn forget(&mut self, subscription: SubscriptionKey) {
        self.reliable.forget(subscription);
        self.market.forget(subscription);
    }

    /// The connection ends: only control frames are sent any more.
    pub fn forget_all(&mut self) {
        self.reliable.clear();
        self.market.clear();
    }

    /// Something was acknowledged, so a subscription may have room again.
    pub fn room_made(&mut self) {
        self.market.room_made();
    }

    /// Fills a batch up to about `room` octets. Small batches keep market data in the lanes, where it can still be
    /// conflated.
    pub fn drain(&mut self, now: Time, room: usize, subscriptions: &mut Subscriptions, batch: &mut Batch) {
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
            write(delivery, subscriptions, batch);
        }
        while batch.bytes() < room {
            let Some(delivery) = self.market.next(now, subscriptions) else {
                break;
            };
            write(delivery, subscriptions, batch);
        }
    }

    /// When [`Lanes::drain`] has something to do: now, or when the rate allows it, or never.
    pub fn wake_at(&mut self, now: Time) -> Time {
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
fn to_one(message: Arc<Message>) -> Broadcast {
    Broadcast { message, number: 0, own: false, apart: false }
}

fn write(delivery: Delivery, subscriptions: &mut Subscriptions, batch: &mut Batch) {
    let Delivery { subscription, message, token, marks } = delivery;
    let begin = batch.heads().len();
    match subscriptions.write_head(subscription, &message, token, marks, batch.heads()) {
        Written::Gone => {}
        Written::Unsettled => batch.push_message(begin, message, marks.conflated),
        Written::Settled => {
            batch.push_message(begin, message, marks.conflated);
            token.into_iter().for_each(|token| batch.settle(subscription, token));
        }
    }
}

#[cfg(test)]
mod tests;
