//! Event queue of one strategy: ticks and books are conflated, trades and bars bounded, order events never dropped; a
//! strategy with too many waiting is disconnected.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::command::Phase;
use domain::{Event, Published, SecurityId, StrategyId};
use strategy::{Past, Refused};

use super::link::{Delivery, Lost};

/// Events that may wait and are never dropped; with one more the strategy is disconnected.
pub(super) const EVENTS_MAX: usize = 16_384;
/// Trades and bars that may wait; beyond that the oldest are dropped.
const PRICES_MAX: usize = 4_096;

pub(super) struct Mailbox {
    strategy: StrategyId,
    waiting: Mutex<Waiting>,
    filled: Condvar,
}

#[derive(Default)]
struct Waiting {
    wanted: BTreeSet<SecurityId>,
    events: VecDeque<Published>,
    newest: BTreeMap<(SecurityId, Kind), Published>,
    prices: VecDeque<Published>,
    refused: Vec<Refused>,
    is_replay: bool,
    phase: Option<(Phase, Arc<Past>)>,
    /// Since when the strategy has been processing its last deliveries.
    busy_since: Option<Instant>,
    cut: Option<Cut>,
}

#[derive(Debug, Clone)]
struct Cut {
    reason: String,
    may_return: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Tick,
    Book,
}

impl Mailbox {
    pub(super) fn new(strategy: StrategyId) -> Self {
        Self { strategy, waiting: Mutex::default(), filled: Condvar::new() }
    }

    /// Queues an event that concerns this strategy.
    pub(super) fn offer(&self, published: &Published) {
        let is_own = owner(&published.event).is_none_or(|owner| owner == self.strategy);
        if is_own && self.lock().take(published) {
            self.filled.notify_one();
        }
    }

    pub(super) fn want(&self, security: SecurityId) {
        self.lock().wanted.insert(security);
    }

    pub(super) fn drop_wish(&self, security: SecurityId) {
        self.lock().wanted.remove(&security);
    }

    pub(super) fn refuse(&self, refused: Refused) {
        self.lock().refused.push(refused);
        self.filled.notify_one();
    }

    /// Replays missed events, before all newer waiting ones.
    pub(super) fn replay(&self, missed: &[Published]) {
        let mut waiting = self.lock();
        waiting.is_replay = true;
        for published in missed {
            waiting.keep_all(published);
        }
        self.filled.notify_one();
    }

    pub(super) fn enter(&self, phase: Phase, past: Arc<Past>) {
        self.lock().phase = Some((phase, past));
        self.filled.notify_one();
    }

    /// Nothing more goes in or out.
    pub(super) fn cut(&self, reason: &str) {
        self.lock().cut_off(Cut { reason: reason.to_owned(), may_return: false });
        self.filled.notify_one();
    }

    /// As [`Self::cut`], but a new run is allowed.
    pub(super) fn cut_for_now(&self, reason: &str) {
        self.lock().cut_off(Cut { reason: reason.to_owned(), may_return: true });
        self.filled.notify_one();
    }

    pub(super) fn cut_reason(&self) -> Option<String> {
        self.lock().cut.as_ref().map(|cut| cut.reason.clone())
    }

    /// Whether a disconnected strategy may begin a new run.
    pub(super) fn may_return(&self) -> bool {
        self.lock().cut.as_ref().is_some_and(|cut| cut.may_return)
    }

    /// How long the strategy has been processing its last deliveries.
    pub(super) fn busy_for(&self) -> Option<Duration> {
        self.lock().busy_since.map(|since| since.elapsed())
    }

    /// The subscriptions of the strategy, to be cancelled when it is gone.
    pub(super) fn wanted(&self) -> Vec<SecurityId> {
        self.lock().wanted.iter().copied().collect()
    }

    /// Waits for deliveries or a timeout, and takes all of them: refusals, events by sequence, then a phase.
    pub(super) fn take(&self, patience: Duration, into: &mut Vec<Delivery>) -> Result<(), Lost> {
        let mut waiting = self.lock();
        waiting.busy_since = None;
        if waiting.is_empty() {
            let (after, _) = self.filled.wait_timeout(waiting, patience).unwrap_or_else(PoisonError::into_inner);
            waiting = after;
        }
        if let Some(cut) = &waiting.cut {
            return Err(Lost(cut.reason.clone()));
        }
        waiting.drain(into);
        // Also without deliveries a timer may be due.
        waiting.busy_since = Some(Instant::now());
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Each event is consistent on its own.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Returns whether a waiting thread must be woken for it.
    fn take(&mut self, published: &Published) -> bool {
        if self.cut.is_some() {
            return false;
        }
        match &published.event {
            Event::Tick(tick) => self.keep_newest(tick.security, Kind::Tick, published),
            Event::Book(book) => self.keep_newest(book.security, Kind::Book, published),
            Event::Trade(trade) => self.keep_some(trade.security, published),
            Event::Bar(bar) => self.keep_some(bar.security, published),
            _ => self.keep_all(published),
        }
    }

    fn keep_newest(&mut self, security: SecurityId, kind: Kind, published: &Published) -> bool {
        let is_wanted = self.wanted.contains(&security);
        if is_wanted {
            self.newest.insert((security, kind), published.clone());
        }
        is_wanted
    }

    fn keep_some(&mut self, security: SecurityId, published: &Published) -> bool {
        let is_wanted = self.wanted.contains(&security);
        if is_wanted {
            self.prices.push_back(published.clone());
            if self.prices.len() > PRICES_MAX {
                self.prices.pop_front();
            }
        }
        is_wanted
    }

    fn keep_all(&mut self, published: &Published) -> bool {
        if self.events.len() >= EVENTS_MAX {
            let reason = format!("it left {EVENTS_MAX} events of its orders unread");
            self.cut_off(Cut { reason, may_return: true });
        } else {
            self.events.push_back(published.clone());
        }
        true
    }

    /// The first reason counts.
    fn cut_off(&mut self, cut: Cut) {
        if self.cut.is_none() {
            let wanted = std::mem::take(&mut self.wanted);
            *self = Self { wanted, busy_since: self.busy_since, cut: Some(cut), ..Self::default() };
        }
    }

    fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.newest.is_empty()
            && self.prices.is_empty()
            && self.refused.is_empty()
            && !self.is_replay
            && self.phase.is_none()
            && self.cut.is_none()
    }

    fn drain(&mut self, into: &mut Vec<Delivery>) {
        into.extend(self.refused.drain(..).map(|refused| Delivery::Refused(Box::new(refused))));
        into.extend(std::mem::take(&mut self.is_replay).then_some(Delivery::Replay));
        let mut events: Vec<Published> = self.events.drain(..).chain(self.prices.drain(..)).collect();
        events.extend(std::mem::take(&mut self.newest).into_values());
        // What one input caused stays in the order in which it was caused.
        events.sort_by_key(|published| published.sequence);
        into.extend(events.into_iter().map(Delivery::Event));
        into.extend(self.phase.take().map(|(phase, past)| Delivery::Enter(phase, past)));
    }
}

/// The strategy that an event belongs to; none where it is for all.
pub(super) fn owner(event: &Event) -> Option<StrategyId> {
    match event {
        Event::Order(order) => Some(order.strategy),
        Event::OrderStatus(status) => Some(status.strategy),
        Event::Fill(fill) => Some(fill.strategy),
        Event::Transaction(transaction) => Some(transaction.strategy),
        Event::Position(position) => Some(position.strategy),
        Event::Cash(balance) => Some(balance.strategy),
        Event::Portfolio(value) => Some(value.strategy),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use domain::{Amount, BalanceId, CashBalance, Currency, Tick, Timestamp};

    use super::*;

    const OWN: StrategyId = StrategyId(7);

    fn tick(sequence: u64, security: u64) -> Published {
        let tick = Tick { security: SecurityId(security), ..samples::tick(security) };
        Published { sequence, at: Timestamp(0), event: Event::Tick(Arc::new(tick)) }
    }

    fn cash(sequence: u64, strategy: StrategyId) -> Published {
        let (id, account, currency) = (BalanceId(1), domain::AccountId(1), Currency::USD);
        let balance = CashBalance { id, strategy, account, currency, amount: Amount::ZERO };
        Published { sequence, at: Timestamp(0), event: Event::Cash(Arc::new(balance)) }
    }

    fn heard(mailbox: &Mailbox) -> Vec<u64> {
        let mut taken = vec![];
        mailbox.take(Duration::ZERO, &mut taken).unwrap();
        taken
            .iter()
            .map(|delivery| if let Delivery::Event(published) = delivery { published.sequence } else { 0 })
            .collect()
    }

    #[test]
    fn the_newest_tick_of_a_wanted_security_waits_and_every_own_event_in_order() {
        let mailbox = Mailbox::new(OWN);
        mailbox.want(SecurityId(1));
        for published in [tick(1, 1), cash(2, OWN), tick(3, 2), cash(4, StrategyId(8)), tick(5, 1), cash(6, OWN)] {
            mailbox.offer(&published);
        }
        assert_eq!(heard(&mailbox), [2, 5, 6]);
        assert_eq!(heard(&mailbox), [0; 0]);
    }

    #[test]
    fn a_strategy_that_leaves_too_many_events_unread_is_cut_off() {
        let mailbox = Mailbox::new(OWN);
        (0..=EVENTS_MAX as u64).for_each(|sequence| mailbox.offer(&cash(sequence, OWN)));
        let lost = mailbox.take(Duration::ZERO, &mut vec![]).unwrap_err();
        assert_eq!(lost, Lost("it left 16384 events of its orders unread".to_owned()));
    }
}
