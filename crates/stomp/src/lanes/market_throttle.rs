//! Market throttle: a bounded message rate. Every topic has one slot with its newest value, and turns are fair.
//!
//! Properties, each with its test:
//! P1 at most R values in any second, and on top of them only those of topics that are proven slow;
//! P2 a slow topic passes at once from its third event on, before that after the quiet ones ahead of it, of which every
//!    tenth turn goes to an ordinary one for the sake of P4;
//! P3 the last value of every topic arrives, within K / (R - b) seconds after the input stops, K = waiting topics;
//! P4 all busy topics get the same share, and none starves;
//! P5 the order of one topic is kept;
//! P6 memory is bounded by the number of topics that wait.

use std::time::Duration;

use super::conflation_slots::{ConflationSlots, Released, SlotQueue};
use super::rate::{Rate, RateBucket, TOKEN, TokenLevel};
use crate::monotonic_time::MonotonicTime;
use crate::topics::TopicActivity;

/// Snapshot values per second for a new subscription; they are not charged to the rate of events.
pub const SNAPSHOTS_PER_SECOND: u32 = 1_000;
/// Snapshot values that are sent at once; a tenth of a second's worth, because drivers wake in steps.
const SNAPSHOT_BURST: TokenLevel = 100 * TOKEN;
/// Quiet topics that are served in a row before one waiting ordinary topic gets a turn.
const QUIET_RUN_MAX: u32 = 9;
/// The reciprocal of the share of the rate that is kept for other topics while slow ones alone exceed it.
const RESERVE_SHARE: u64 = 10;
/// Millionths of a token that an idle connection accumulates, at most.
const BURST_MAX: u64 = 5_000_000;
/// A driver need not wake more often than this.
const STEP_MAX: Duration = Duration::from_millis(20);

/// What a value is charged to.
#[derive(Debug, Clone, Copy)]
enum Payment {
    Tokens,
    Reserve,
}

/// The market data of one connection. `K` names a topic of a subscription.
#[derive(Debug)]
pub struct MarketThrottle<K, V> {
    slots: ConflationSlots<K, V>,
    /// Holds b tokens and gains R - b in a second, so that no second has more than R.
    tokens: RateBucket,
    reserve: RateBucket,
    snapshots: RateBucket,
    /// The level at which a value may be sent: a token, or the whole burst where that is less.
    needed: TokenLevel,
    /// How deep slow topics may drive the tokens into debt: R.
    debt_floor: TokenLevel,
    /// How late a driver may wake without losing tokens to a full bucket.
    step: Duration,
    /// Turns of quiet topics since an ordinary one had its turn.
    quiet_run: u32,
    /// Whether the last value that was sent is one of a slow topic.
    was_urgent: bool,
}

impl<K: Copy + Ord, V> MarketThrottle<K, V> {
    pub fn new(max_rate: Rate) -> Self {
        let rate = max_rate.millionths();
        let burst = BURST_MAX.min(rate / 10);
        Self {
            slots: ConflationSlots::default(),
            tokens: RateBucket::full(tokens_of(burst), rate - burst),
            reserve: RateBucket::full(TOKEN, (rate / RESERVE_SHARE).max(1)),
            snapshots: RateBucket::full(SNAPSHOT_BURST, u64::from(SNAPSHOTS_PER_SECOND) * 1_000_000),
            needed: tokens_of(burst).min(TOKEN),
            debt_floor: -tokens_of(rate),
            step: STEP_MAX.min(Duration::from_nanos(burst * 1_000_000_000 / (rate - burst))),
            quiet_run: 0,
            was_urgent: false,
        }
    }

    /// How many topics wait.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds to the number of older values of a topic that the offered one replaced.
    pub(crate) fn count_conflated(&mut self, key: K, count: u64) {
        self.slots.count_conflated(key, count);
    }

    /// The value that waits under a key.
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.slots.get(key)
    }

    /// Removes the value of a key: a newer value replaces it.
    pub(crate) fn take_parked(&mut self, key: K) -> Option<Released<K, V>> {
        self.slots.release(key)
    }

    /// Parks a value whose subscription has no room.
    pub(crate) fn park(&mut self, key: K, value: V, conflated: u64) {
        self.slots.park_value(key, value, conflated);
    }

    /// Charges the last value for one more subscription; whether the rate allows it now.
    pub(crate) fn charge(&mut self, now: MonotonicTime) -> bool {
        if self.was_urgent {
            self.charge_slow(now);
            return true;
        }
        let payment = self.payment(now);
        payment.into_iter().for_each(|payment| self.apply_payment(payment));
        payment.is_some()
    }

    /// When [`MarketThrottle::charge`] will return true.
    pub(crate) fn charge_at(&mut self, now: MonotonicTime) -> MonotonicTime {
        if self.was_urgent { now } else { self.event_due(now).max(now) }
    }

    /// An event on a topic.
    pub fn offer(&mut self, key: K, value: V, pace: TopicActivity) {
        match self.slots.replace(key, value, false) {
            Ok(()) if pace == TopicActivity::Slow => self.promote(key),
            Ok(()) => {}
            Err(value) => self.slots.push(key, value, queue_for(pace), false),
        }
    }

    /// A parked slot is not moved: its subscription has no room.
    fn promote(&mut self, key: K) {
        if self.slots.queue_of(key).is_some_and(|line| !matches!(line, SlotQueue::Urgent | SlotQueue::Parked)) {
            self.slots.move_to(key, SlotQueue::Urgent);
        }
    }

    /// A last value from before the subscription; an event that waits already is newer.
    pub fn offer_snapshot(&mut self, key: K, value: V) {
        if !self.slots.contains(key) {
            self.slots.push(key, value, SlotQueue::Snapshot, true);
        }
    }

    /// The next value that may be sent now, to a subscription that has room.
    pub fn next(&mut self, now: MonotonicTime, has_room: impl Fn(K, &V) -> bool) -> Option<Released<K, V>> {
        let urgent = self.next_ready(SlotQueue::Urgent, &has_room);
        self.was_urgent = urgent.is_some();
        if let Some(key) = urgent {
            self.charge_slow(now);
            return self.slots.release(key);
        }
        let released = self.next_event(now, &has_room);
        released.or_else(|| self.next_snapshot(now, &has_room))
    }

    /// The reserve fills while there is debt and only then; a reserve filled before could break P1 beside the first
    /// slow event.
    fn charge_slow(&mut self, now: MonotonicTime) {
        let level = self.tokens.level(now);
        if !self.is_in_debt(level) {
            self.reserve.empty(now);
        }
        self.tokens.withdraw(self.debt_floor);
    }

    fn next_event(&mut self, now: MonotonicTime, has_room: &impl Fn(K, &V) -> bool) -> Option<Released<K, V>> {
        let payment = self.payment(now)?;
        let key = self.choose(has_room)?;
        self.apply_payment(payment);
        self.slots.release(key)
    }

    /// How a value may be charged now.
    fn payment(&mut self, now: MonotonicTime) -> Option<Payment> {
        let level = self.tokens.level(now);
        if level >= self.needed {
            return Some(Payment::Tokens);
        }
        (self.is_in_debt(level) && self.reserve.level(now) >= TOKEN).then_some(Payment::Reserve)
    }

    fn apply_payment(&mut self, payment: Payment) {
        match payment {
            Payment::Tokens => self.tokens.withdraw(TokenLevel::MIN),
            Payment::Reserve => self.reserve.withdraw(0),
        }
    }

    /// Lower than values within the rate can bring it: only slow topics do that.
    fn is_in_debt(&self, level: TokenLevel) -> bool {
        level < self.needed - TOKEN
    }

    /// Quiet topics first, but only for `QUIET_RUN_MAX` turns.
    fn choose(&mut self, has_room: &impl Fn(K, &V) -> bool) -> Option<K> {
        let quiet = self.next_ready(SlotQueue::Quiet, has_room);
        let ordinary = self.next_ready(SlotQueue::Ordinary, has_room);
        if quiet.is_some() && ordinary.is_some() && self.quiet_run < QUIET_RUN_MAX {
            self.quiet_run += 1;
            return quiet;
        }
        self.quiet_run = 0;
        ordinary.or(quiet)
    }

    fn next_snapshot(&mut self, now: MonotonicTime, has_room: &impl Fn(K, &V) -> bool) -> Option<Released<K, V>> {
        if self.snapshots.level(now) < TOKEN {
            return None;
        }
        let key = self.next_ready(SlotQueue::Snapshot, has_room)?;
        self.snapshots.withdraw(0);
        self.slots.release(key)
    }

    /// The first of a queue whose subscription has room; those before it are parked.
    fn next_ready(&mut self, line: SlotQueue, has_room: &impl Fn(K, &V) -> bool) -> Option<K> {
        loop {
            let key = self.slots.first(line)?;
            if has_room(key, self.slots.get(key)?) {
                return Some(key);
            }
            self.slots.park(key);
        }
    }

    /// A subscription has acknowledged something and may have room again.
    pub fn on_room(&mut self) {
        self.slots.unpark();
    }

    /// When a value may be sent, as far as the rate decides; [`MonotonicTime::NEVER`] where nothing waits.
    pub fn due(&mut self, now: MonotonicTime) -> MonotonicTime {
        if self.slots.first(SlotQueue::Urgent).is_some() {
            return now;
        }
        let mut due = MonotonicTime::NEVER;
        if self.slots.first(SlotQueue::Quiet).or_else(|| self.slots.first(SlotQueue::Ordinary)).is_some() {
            due = self.event_due(now);
        }
        if self.slots.first(SlotQueue::Snapshot).is_some() {
            self.snapshots.level(now);
            due = due.min(self.snapshots.full_at(TOKEN));
        }
        due.max(now)
    }

    fn event_due(&mut self, now: MonotonicTime) -> MonotonicTime {
        let level = self.tokens.level(now);
        let by_tokens = self.tokens.full_at(self.needed);
        if !self.is_in_debt(level) {
            return by_tokens;
        }
        self.reserve.level(now);
        by_tokens.min(self.reserve.full_at(TOKEN))
    }

    /// When to wake for a value that is due: times are rounded up to common steps, so that many values and many
    /// connections share one wake-up.
    pub fn wake_at(&mut self, now: MonotonicTime) -> MonotonicTime {
        let due = self.due(now);
        let step = u64::try_from(self.step.as_nanos()).unwrap_or(u64::MAX).max(1);
        if due <= now { due } else { due.0.checked_next_multiple_of(step).map_or(MonotonicTime::NEVER, MonotonicTime) }
    }

    /// Drops the values of keys for which `gone` holds.
    pub fn remove_where(&mut self, gone: impl Fn(K) -> bool) {
        self.slots.remove_where(gone);
    }
}

fn queue_for(pace: TopicActivity) -> SlotQueue {
    match pace {
        TopicActivity::Slow => SlotQueue::Urgent,
        TopicActivity::Quiet => SlotQueue::Quiet,
        TopicActivity::Busy => SlotQueue::Ordinary,
    }
}

fn tokens_of(millionths: u64) -> TokenLevel {
    TokenLevel::from(millionths) * (TOKEN / 1_000_000)
}
