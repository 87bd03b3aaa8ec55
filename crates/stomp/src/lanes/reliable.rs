//! Orders, positions, log lines: first in, first out, nothing dropped. Whoever does not keep up is told so.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::message::Message;
use crate::session::{Marks, SubscriptionKey, Token};
use crate::time::Time;

/// Octets that wait for one connection, a single message excepted; with more it is disconnected as a slow consumer.
pub const RELIABLE_BYTES_MAX: usize = 1_024 * 1_024;
/// How long the oldest message waits for the socket; after that the connection is a slow consumer.
pub const RELIABLE_WAIT_MAX: Duration = Duration::from_secs(30);
/// What a message takes beside its text.
const OVERHEAD_BYTES: usize = 64;

/// A message on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub subscription: SubscriptionKey,
    pub message: Arc<Message>,
    /// Of a message of a queue.
    pub token: Option<Token>,
    pub marks: Marks,
}

/// How a lane does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressure {
    Easy,
    /// Half of the lane is full. Said once, and again only after it was nearly empty.
    Slow,
}

/// The connection must end: it does not read, and nothing may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowConsumer {
    Bytes { limit: usize },
    Wait { limit: Duration },
    Control { limit: usize },
}

impl fmt::Display for SlowConsumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes { limit } => write!(f, "slow consumer, more than {limit} octets wait"),
            Self::Wait { limit } => write!(f, "slow consumer, a message waits for more than {} s", limit.as_secs()),
            Self::Control { limit } => write!(f, "slow consumer, more than {limit} octets of answers wait"),
        }
    }
}

impl std::error::Error for SlowConsumer {}

#[derive(Debug)]
struct Waiting {
    since: Time,
    size: usize,
    delivery: Delivery,
}

/// The reliable lane of one connection.
#[derive(Debug)]
pub(crate) struct Reliable {
    waiting: VecDeque<Waiting>,
    /// Messages of subscriptions that take nothing before an acknowledgement. They wait as long as the client likes,
    /// but their octets count.
    parked: BTreeMap<SubscriptionKey, VecDeque<Waiting>>,
    bytes: usize,
    limit: usize,
    is_slow: bool,
}

impl Reliable {
    pub(crate) fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), parked: BTreeMap::new(), bytes: 0, limit, is_slow: false }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Messages that wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len() + self.parked.values().map(VecDeque::len).sum::<usize>()
    }

    /// Whether a source that can wait may send more.
    pub(crate) fn takes_more(&self) -> bool {
        self.bytes * 4 <= self.limit
    }

    pub(crate) fn push(&mut self, now: Time, size: usize, delivery: Delivery) -> Result<Pressure, SlowConsumer> {
        let size = size + OVERHEAD_BYTES;
        // An empty lane takes a message of any size, or a large one could never be delivered.
        if self.bytes > 0 && self.bytes + size > self.limit {
            return Err(SlowConsumer::Bytes { limit: self.limit });
        }
        self.bytes += size;
        self.waiting.push_back(Waiting { since: now, size, delivery });
        let was_slow = self.is_slow;
        self.is_slow |= self.bytes * 2 > self.limit;
        Ok(if self.is_slow && !was_slow { Pressure::Slow } else { Pressure::Easy })
    }

    pub(crate) fn next(&mut self, has_room: impl Fn(SubscriptionKey) -> bool) -> Option<Delivery> {
        let waiting = self.next_parked(&has_room).or_else(|| self.next_waiting(&has_room))?;
        self.bytes -= waiting.size;
        self.is_slow &= self.bytes * 4 > self.limit;
        Some(waiting.delivery)
    }

    fn next_parked(&mut self, has_room: &impl Fn(SubscriptionKey) -> bool) -> Option<Waiting> {
        let key = *self.parked.keys().find(|key| has_room(**key))?;
        let lane = self.parked.get_mut(&key)?;
        let next = lane.pop_front();
        if lane.is_empty() {
            self.parked.remove(&key);
        }
        next
    }

    /// Parks what its subscription does not take, and what would overtake a parked message of the same one.
    fn next_waiting(&mut self, has_room: &impl Fn(SubscriptionKey) -> bool) -> Option<Waiting> {
        loop {
            let next = self.waiting.pop_front()?;
            let key = next.delivery.subscription;
            if has_room(key) && !self.parked.contains_key(&key) {
                return Some(next);
            }
            self.parked.entry(key).or_default().push_back(next);
        }
    }

    /// Whether the socket has kept the oldest message waiting for too long.
    pub(crate) fn check_wait(&self, now: Time) -> Result<(), SlowConsumer> {
        let late = self.late_at() <= now;
        if late { Err(SlowConsumer::Wait { limit: RELIABLE_WAIT_MAX }) } else { Ok(()) }
    }

    pub(crate) fn late_at(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |oldest| oldest.since.after(RELIABLE_WAIT_MAX))
    }

    /// Whether something waits that may not be held back by its subscription.
    pub(crate) fn is_due(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Drops what waits for a subscription that has ended.
    pub(crate) fn forget(&mut self, key: SubscriptionKey) {
        self.waiting.retain(|waiting| waiting.delivery.subscription != key);
        self.parked.remove(&key);
        self.bytes = self.waiting.iter().chain(self.parked.values().flatten()).map(|waiting| waiting.size).sum();
    }
}
