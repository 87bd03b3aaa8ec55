//! The way out of one connection: three lanes, served in order. Answers first, then what must not be lost, then market
//! data, of which the newest counts.

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

/// What comes and must not be lost.
mod arrival;
/// Market data without a rate.
mod backlog;
/// What is written in one go.
mod batch;
/// Rates and token buckets.
mod bucket;
/// What publishers have handed over.
mod incoming;
/// Market data, to all subscriptions that select it.
mod market;
/// Whether a client takes what waits for it.
mod progress;
/// Nothing dropped.
mod reliable;
/// One place per topic.
mod slots;
/// Market data at a bounded rate.
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

/// Octets of answers that wait for one connection; with more it is disconnected as a slow consumer.
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
    /// For a door whose market data is throttled.
    pub fn throttled(max_rate: Rate) -> Self {
        Self::new(Market::throttled(max_rate))
    }

    /// For a door whose market data passes freely.
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

    /// An answer or a heart-beat. The last words before a close are put in even when the lane is full.
    pub fn control(&mut self, frame: Cow<'static, [u8]>) -> Result<(), SlowConsumer> {
        self.control_bytes += frame.len();
        self.control.push_back(frame);
        if self.control_bytes > CONTROL_BYTES_MAX {
            return Err(SlowConsumer::Control { limit: CONTROL_BYTES_MAX });
        }
        Ok(())
    }

    /// Takes what publishers have handed over.
    pub fn take(&mut self, incoming: &mut Incoming) {
        self.reliable.append(incoming.take_reliable());
        incoming.take_prices(|price| self.market.offer(price));
    }

    /// A message that must not be lost, for one subscription.
    pub fn reliable(&mut self, delivery: Delivery) {
        self.reliable.push(Arrival::ToOne(delivery.into()));
    }

    /// Whether a source that can wait, such as a queue, may send more where so many octets wait. The lane would take it,
    /// but then others' messages could make a patient consumer a slow one.
    pub fn takes_more(waiting: usize) -> bool {
        waiting * 4 <= RELIABLE_BYTES_MARK
    }

    /// A message for one subscription of which the newest of its topic counts.
    pub fn market(&mut self, subscription: SubscriptionKey, topic: TopicId, message: Arc<Message>, pace: Pace) {
        self.market.offer_to_one(SlotKey { topic, subscription: Some(subscription) }, to_one(message), pace);
    }

    /// The last value of a market topic, for a new subscription that hears broadcasts with numbers greater than `since`.
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

    /// The subscription has ended; nothing of it leaves any more.
    pub fn forget(&mut self, subscription: SubscriptionKey) {
        self.reliable.forget(subscription);
        self.market.forget(subscription);
    }

    /// The connection ends: nothing but answers leaves any more.
    pub fn forget_all(&mut self) {
        self.reliable.clear();
        self.market.clear();
    }

    /// Something was acknowledged, so a subscription may take more.
    pub fn room_made(&mut self) {
        self.market.room_made();
    }

    /// Fills a batch up to about `room` octets. Small batches keep market data here, where it can still be replaced.
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

    /// Octets that must not be lost.
    pub fn reliable_bytes(&self) -> usize {
        self.reliable.bytes()
    }

    /// Those among them that wait for an acknowledgement.
    pub fn unacknowledged_bytes(&self) -> usize {
        self.reliable.parked_bytes()
    }

    /// Octets that wait in full; values that replace each other are not among them.
    pub fn waiting_bytes(&self) -> usize {
        self.control_bytes + self.reliable.bytes() + self.market.bytes()
    }

    /// Messages that wait.
    pub fn waiting_messages(&self) -> usize {
        self.reliable.len() + self.market.len()
    }
}

/// What is for one subscription needs no number.
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
