//! The way out of one connection: three lanes, served in order. Answers first, then what must not be lost, then market
//! data, of which the newest counts.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::message::Message;
use crate::session::{Marks, SubscriptionKey, Subscriptions, Written};
use crate::time::Time;
use crate::topics::{Pace, TopicId};
use crate::version::Version;
use reliable::Reliable;

/// Market data without a rate.
mod backlog;
/// What is written in one go.
mod batch;
/// Rates and token buckets.
mod bucket;
/// Nothing dropped.
mod reliable;
/// One place per topic.
mod slots;
/// Market data at a bounded rate.
mod throttle;

pub use backlog::{BACKLOG_BYTES_MAX, Backlog};
pub use batch::Batch;
pub use bucket::{NotARate, Rate};
pub use reliable::{Delivery, Pressure, RELIABLE_BYTES_MAX, RELIABLE_WAIT_MAX, SlowConsumer};
pub use slots::Released;
pub use throttle::{SNAPSHOTS_PER_SECOND, Throttle};

/// Octets of answers that wait for one connection; with more it is disconnected as a slow consumer.
pub const CONTROL_BYTES_MAX: usize = 256 * 1_024;

/// A topic as one subscription sees it: what has a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotKey {
    pub subscription: SubscriptionKey,
    pub topic: TopicId,
}

/// How market data leaves a connection.
#[derive(Debug)]
enum Market {
    Throttled(Throttle<SlotKey, Arc<Message>>),
    Free(Backlog<SlotKey, Arc<Message>>),
}

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
        Self::new(Market::Throttled(Throttle::new(max_rate)))
    }

    /// For a door whose market data passes freely.
    pub fn free() -> Self {
        Self::new(Market::Free(Backlog::new(BACKLOG_BYTES_MAX)))
    }

    fn new(market: Market) -> Self {
        Self { control: VecDeque::new(), control_bytes: 0, reliable: Reliable::new(RELIABLE_BYTES_MAX), market }
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

    /// A message that must not be lost.
    pub fn reliable(&mut self, now: Time, delivery: Delivery) -> Result<Pressure, SlowConsumer> {
        let size = delivery.message.tail(Version::V12).len();
        self.reliable.push(now, size, delivery)
    }

    /// Whether a source that can wait, such as a queue, may send more. The lane would take it, but then others' messages
    /// could make a patient consumer a slow one.
    pub fn takes_more(&self) -> bool {
        self.reliable.takes_more()
    }

    /// A message whose topic's newest value counts.
    pub fn market(&mut self, key: SlotKey, message: Arc<Message>, pace: Pace) {
        match &mut self.market {
            Market::Throttled(throttle) => throttle.offer(key, message, pace),
            Market::Free(backlog) => {
                let size = message.tail(Version::V12).len();
                backlog.offer(key, message, size, false);
            }
        }
    }

    /// A message of market data that no rate holds back. Where this door has none it waits as other market data does, the
    /// newest per slot; at a throttled door it must not be lost.
    pub fn unthrottled(&mut self, now: Time, key: SlotKey, message: Arc<Message>) -> Result<Pressure, SlowConsumer> {
        if matches!(self.market, Market::Free(_)) {
            self.market(key, message, Pace::Slow);
            return Ok(Pressure::Easy);
        }
        let marks = Marks::default();
        self.reliable(now, Delivery { subscription: key.subscription, message, token: None, marks })
    }

    /// The last value of a market topic, for a new subscription.
    pub fn market_snapshot(&mut self, key: SlotKey, message: Arc<Message>) {
        match &mut self.market {
            Market::Throttled(throttle) => throttle.offer_snapshot(key, message),
            Market::Free(backlog) => {
                let size = message.tail(Version::V12).len();
                backlog.offer(key, message, size, true);
            }
        }
    }

    /// The subscription has ended; nothing of it leaves any more.
    pub fn forget(&mut self, subscription: SubscriptionKey) {
        self.reliable.forget(subscription);
        match &mut self.market {
            Market::Throttled(throttle) => throttle.forget(|key| key.subscription == subscription),
            Market::Free(backlog) => backlog.forget(|key| key.subscription == subscription),
        }
    }

    /// Something was acknowledged, so a subscription may take more.
    pub fn room_made(&mut self) {
        match &mut self.market {
            Market::Throttled(throttle) => throttle.room_made(),
            Market::Free(backlog) => backlog.room_made(),
        }
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
            let Some(delivery) = self.reliable.next(|key| subscriptions.has_room(key)) else {
                break;
            };
            write(delivery, subscriptions, batch);
        }
        while batch.bytes() < room {
            let Some(delivery) = self.next_market(now, subscriptions) else {
                break;
            };
            write(delivery, subscriptions, batch);
        }
    }

    fn next_market(&mut self, now: Time, subscriptions: &Subscriptions) -> Option<Delivery> {
        let has_room = |key: SlotKey| subscriptions.has_room(key.subscription);
        let released = match &mut self.market {
            Market::Throttled(throttle) => throttle.next(now, has_room)?,
            Market::Free(backlog) => backlog.next(has_room)?,
        };
        let marks = Marks { redelivered: false, snapshot: released.snapshot, conflated: released.conflated };
        Some(Delivery { subscription: released.key.subscription, message: released.value, token: None, marks })
    }

    /// When [`Lanes::drain`] has something to do: now, or when the rate allows it, or never.
    pub fn wake_at(&mut self, now: Time) -> Time {
        if !self.control.is_empty() || self.reliable.is_due() {
            return now;
        }
        match &mut self.market {
            Market::Throttled(throttle) => throttle.wake_at(now),
            Market::Free(backlog) if backlog.is_due() => now,
            Market::Free(_) => Time::NEVER,
        }
    }

    /// Whether the socket has kept something waiting for too long; to be asked at [`Lanes::late_at`].
    pub fn check_wait(&self, now: Time) -> Result<(), SlowConsumer> {
        self.reliable.check_wait(now)
    }

    pub fn late_at(&self) -> Time {
        self.reliable.late_at()
    }

    /// Octets that wait in full; values that replace each other are not among them.
    pub fn waiting_bytes(&self) -> usize {
        let market = match &self.market {
            Market::Throttled(_) => 0,
            Market::Free(backlog) => backlog.bytes(),
        };
        self.control_bytes + self.reliable.bytes() + market
    }

    /// Messages that wait.
    pub fn waiting_messages(&self) -> usize {
        let market = match &self.market {
            Market::Throttled(throttle) => throttle.len(),
            Market::Free(backlog) => backlog.len(),
        };
        self.reliable.len() + market
    }
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
