//! Event queue of one strategy: ticks and books are conflated, trades and bars bounded, order events never dropped; a
//! strategy with too many waiting is disconnected.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::command::StrategyPhase;
use domain::{Event, PublishedEvent, SecurityId, StrategyId};
use strategy::{CommandRejection, PriceHistory};

use super::unrecorded_events::{UNRECORDED_MAX, UnrecordedEvents};
use super::{LinkLost, StrategyDelivery};

/// Events that may wait and are never dropped; with one more the strategy is disconnected.
pub(crate) const EVENTS_MAX: usize = 16_384;
/// Trades and bars that may wait; beyond that the oldest are dropped.
const PRICES_MAX: usize = 4_096;

pub(crate) struct StrategyQueue {
    strategy: StrategyId,
    state: Mutex<QueueState>,
    available: Condvar,
}

#[derive(Default)]
struct QueueState {
    subscriptions: BTreeSet<SecurityId>,
    events: VecDeque<PublishedEvent>,
    conflated: BTreeMap<(SecurityId, ConflatedKind), PublishedEvent>,
    prices: VecDeque<PublishedEvent>,
    refused: Vec<CommandRejection>,
    is_replay: bool,
    /// Replays that are announced and have not come: until the last one events wait, because older ones come before them.
    replays_awaited: usize,
    unrecorded: UnrecordedEvents,
    phase: Option<(StrategyPhase, Arc<PriceHistory>)>,
    /// Since when the strategy has been processing its last deliveries.
    busy_since: Option<Instant>,
    disconnect: Option<Disconnect>,
}

#[derive(Debug, Clone)]
struct Disconnect {
    reason: String,
    returns: Return,
}

/// Whether a disconnected strategy may come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Return {
    Never,
    WithNewRun,
    /// The server ends: nobody has ended the run, and it may go on at the next server.
    AtNextServer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ConflatedKind {
    Tick,
    Book,
}

impl StrategyQueue {
    pub(crate) fn new(strategy: StrategyId) -> Self {
        Self { strategy, state: Mutex::default(), available: Condvar::new() }
    }

    /// Queues an event that concerns this strategy.
    pub(crate) fn push(&self, published: &PublishedEvent) {
        let is_own = owner(&published.event).is_none_or(|owner| owner == self.strategy);
        if is_own && self.lock().push(published) {
            self.available.notify_one();
        }
    }

    pub(crate) fn subscribe(&self, security: SecurityId) {
        self.lock().subscriptions.insert(security);
    }

    pub(crate) fn unsubscribe(&self, security: SecurityId) {
        self.lock().subscriptions.remove(&security);
    }

    pub(crate) fn push_refusal(&self, refused: CommandRejection) {
        self.lock().refused.push(refused);
        self.available.notify_one();
    }

    /// A process has reconnected, and [`Self::replay`] follows: events from now on wait for it.
    pub(crate) fn await_replay(&self) {
        self.lock().replays_awaited += 1;
    }

    /// Replays missed events, before all newer waiting ones: those that history has, and from here those that it does not have.
    pub(crate) fn replay(&self, after: u64, missed: &[PublishedEvent]) {
        let mut waiting = self.lock();
        waiting.replays_awaited = waiting.replays_awaited.saturating_sub(1);
        // A process that has reconnected once more needs no more than the replay that follows.
        if waiting.replays_awaited == 0 {
            waiting.replay(after, missed);
            self.available.notify_one();
        }
    }

    /// Events of an earlier run, for a new one.
    pub(crate) fn push_missed(&self, missed: &[PublishedEvent]) {
        let mut waiting = self.lock();
        for published in missed {
            waiting.push_event(published);
        }
        self.available.notify_one();
    }

    pub(crate) fn enter(&self, phase: StrategyPhase, history: Arc<PriceHistory>) {
        self.lock().phase = Some((phase, history));
        self.available.notify_one();
    }

    /// Nothing more goes in or out.
    pub(crate) fn disconnect(&self, reason: &str) {
        self.disconnect_with(reason, Return::Never);
    }

    /// As [`Self::disconnect`], but a new run is allowed.
    pub(crate) fn disconnect_retryable(&self, reason: &str) {
        self.disconnect_with(reason, Return::WithNewRun);
    }

    /// As [`Self::disconnect`], because the server ends.
    pub(crate) fn end(&self, reason: &str) {
        self.disconnect_with(reason, Return::AtNextServer);
    }

    fn disconnect_with(&self, reason: &str, returns: Return) {
        self.lock().disconnect(Disconnect { reason: reason.to_owned(), returns });
        self.available.notify_one();
    }

    pub(crate) fn disconnect_reason(&self) -> Option<String> {
        self.lock().disconnect.as_ref().map(|cut| cut.reason.clone())
    }

    /// Whether a disconnected strategy may begin a new run.
    pub(crate) fn may_reconnect(&self) -> bool {
        self.lock().disconnect.as_ref().is_some_and(|cut| cut.returns == Return::WithNewRun)
    }

    /// Whether it was disconnected, and not because the server ends.
    pub(crate) fn is_detached(&self) -> bool {
        self.lock().disconnect.as_ref().is_some_and(|cut| cut.returns != Return::AtNextServer)
    }

    /// How long the strategy has been processing its last deliveries.
    pub(crate) fn busy_for(&self) -> Option<Duration> {
        self.lock().busy_since.map(|since| since.elapsed())
    }

    /// The subscriptions of the strategy, to be cancelled when it is gone.
    pub(crate) fn subscriptions(&self) -> Vec<SecurityId> {
        self.lock().subscriptions.iter().copied().collect()
    }

    /// Waits for deliveries or a timeout, and takes all of them: refusals, events by sequence, then a phase.
    pub(crate) fn receive(&self, patience: Duration, into: &mut Vec<StrategyDelivery>) -> Result<(), LinkLost> {
        let mut waiting = self.lock();
        waiting.busy_since = None;
        if waiting.is_empty() {
            let (after, _) = self.available.wait_timeout(waiting, patience).unwrap_or_else(PoisonError::into_inner);
            waiting = after;
        }
        if let Some(cut) = &waiting.disconnect {
            return Err(LinkLost(cut.reason.clone()));
        }
        waiting.drain(into);
        // Also without deliveries a timer may be due.
        waiting.busy_since = Some(Instant::now());
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // Each event is consistent on its own.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    /// Returns whether a waiting thread must be woken for it.
    fn push(&mut self, published: &PublishedEvent) -> bool {
        if self.disconnect.is_some() {
            return false;
        }
        match &published.event {
            Event::Tick(tick) => self.conflate(tick.security, ConflatedKind::Tick, published),
            Event::Book(book) => self.conflate(book.security, ConflatedKind::Book, published),
            Event::Trade(trade) => self.push_bounded(trade.security, published),
            Event::Bar(bar) => self.push_bounded(bar.security, published),
            _ => self.push_event(published),
        }
    }

    fn conflate(&mut self, security: SecurityId, kind: ConflatedKind, published: &PublishedEvent) -> bool {
        let is_wanted = self.subscriptions.contains(&security);
        if is_wanted {
            self.conflated.insert((security, kind), published.clone());
        }
        is_wanted
    }

    fn push_bounded(&mut self, security: SecurityId, published: &PublishedEvent) -> bool {
        let is_wanted = self.subscriptions.contains(&security);
        if is_wanted {
            self.prices.push_back(published.clone());
            if self.prices.len() > PRICES_MAX {
                self.prices.pop_front();
            }
        }
        is_wanted
    }

    fn push_event(&mut self, published: &PublishedEvent) -> bool {
        if self.events.len() >= EVENTS_MAX {
            let reason = format!("it left {EVENTS_MAX} events of its orders unread");
            self.disconnect(Disconnect { reason, returns: Return::WithNewRun });
        } else {
            self.events.push_back(published.clone());
        }
        true
    }

    fn replay(&mut self, after: u64, missed: &[PublishedEvent]) {
        let Some(unrecorded) = self.unrecorded.take_after(after) else {
            let reason = format!("it missed more than {UNRECORDED_MAX} changes of sessions and trading states");
            return self.disconnect(Disconnect { reason, returns: Return::WithNewRun });
        };
        self.is_replay = true;
        for published in unrecorded.iter().chain(missed) {
            self.push_event(published);
        }
    }

    /// The first reason counts.
    fn disconnect(&mut self, cut: Disconnect) {
        if self.disconnect.is_none() {
            let wanted = std::mem::take(&mut self.subscriptions);
            *self =
                Self { subscriptions: wanted, busy_since: self.busy_since, disconnect: Some(cut), ..Self::default() };
        }
    }

    fn is_empty(&self) -> bool {
        let has_events = !self.events.is_empty() || !self.conflated.is_empty() || !self.prices.is_empty();
        (!has_events || self.replays_awaited > 0)
            && self.refused.is_empty()
            && !self.is_replay
            && self.phase.is_none()
            && self.disconnect.is_none()
    }

    fn drain(&mut self, into: &mut Vec<StrategyDelivery>) {
        into.extend(self.refused.drain(..).map(|refused| StrategyDelivery::Refused(Box::new(refused))));
        if self.replays_awaited == 0 {
            into.extend(std::mem::take(&mut self.is_replay).then_some(StrategyDelivery::Replay));
            self.drain_events(into);
        }
        into.extend(self.phase.take().map(|(phase, history)| StrategyDelivery::Enter(phase, history)));
    }

    fn drain_events(&mut self, into: &mut Vec<StrategyDelivery>) {
        let mut events: Vec<PublishedEvent> = self.events.drain(..).chain(self.prices.drain(..)).collect();
        events.extend(std::mem::take(&mut self.conflated).into_values());
        // What one input caused stays in the order in which it was caused.
        events.sort_by_key(|published| published.sequence);
        events.iter().for_each(|published| self.unrecorded.keep(published));
        into.extend(events.into_iter().map(StrategyDelivery::Event));
    }
}

/// The strategy that an event belongs to; none where it is for all.
pub(crate) fn owner(event: &Event) -> Option<StrategyId> {
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

    fn tick(sequence: u64, security: u64) -> PublishedEvent {
        let tick = Tick { security: SecurityId(security), ..samples::tick(security) };
        PublishedEvent { sequence, at: Timestamp(0), event: Event::Tick(Arc::new(tick)) }
    }

    fn cash(sequence: u64, strategy: StrategyId) -> PublishedEvent {
        let (id, account, currency) = (BalanceId(1), domain::AccountId(1), Currency::USD);
        let balance = CashBalance {
            id,
            strategy,
            account,
            currency,
            amount: Amount::ZERO,
            venue_total: None,
            venue_locked: None,
        };
        PublishedEvent { sequence, at: Timestamp(0), event: Event::Cash(Arc::new(balance)) }
    }

    fn heard(queue: &StrategyQueue) -> Vec<u64> {
        let mut taken = vec![];
        queue.receive(Duration::ZERO, &mut taken).unwrap();
        taken
            .iter()
            .map(|delivery| if let StrategyDelivery::Event(published) = delivery { published.sequence } else { 0 })
            .collect()
    }

    #[test]
    fn the_newest_tick_of_a_wanted_security_waits_and_every_own_event_in_order() {
        let queue = StrategyQueue::new(OWN);
        queue.subscribe(SecurityId(1));
        for published in [tick(1, 1), cash(2, OWN), tick(3, 2), cash(4, StrategyId(8)), tick(5, 1), cash(6, OWN)] {
            queue.push(&published);
        }
        assert_eq!(heard(&queue), [2, 5, 6]);
        assert_eq!(heard(&queue), [0; 0]);
    }

    /// The last one is published while the replay reads history, which may or may not have it.
    #[test]
    fn what_happens_between_a_reconnect_and_its_replay_comes_behind_it_in_order() {
        let queue = StrategyQueue::new(OWN);
        queue.await_replay();
        queue.push(&cash(8, OWN));
        assert_eq!(heard(&queue), [0; 0]);
        queue.replay(4, &[cash(5, OWN), cash(7, OWN)]);
        assert_eq!(heard(&queue), [0, 5, 7, 8], "0 is the mark of the replay");
    }

    #[test]
    fn a_process_that_reconnects_twice_gets_the_second_replay_alone() {
        let queue = StrategyQueue::new(OWN);
        queue.await_replay();
        queue.await_replay();
        queue.replay(4, &[cash(5, OWN)]);
        queue.push(&cash(9, OWN));
        assert_eq!(heard(&queue), [0; 0]);
        queue.replay(6, &[cash(7, OWN)]);
        assert_eq!(heard(&queue), [0, 7, 9]);
    }

    #[test]
    fn a_halt_that_was_delivered_and_missed_comes_with_the_replay() {
        let change = domain::risk::TradingStateChange {
            scope: domain::risk::RiskScope::Platform,
            state: domain::risk::TradingState::Halted,
            at: Timestamp(0),
            reason: None,
            changed_by: None,
        };
        let halt = PublishedEvent { sequence: 6, at: Timestamp(0), event: Event::TradingState(Arc::new(change)) };
        let queue = StrategyQueue::new(OWN);
        queue.push(&cash(3, OWN));
        queue.push(&halt);
        assert_eq!(heard(&queue), [3, 6]);
        for _ in 0..2 {
            queue.await_replay();
            queue.replay(3, &[cash(5, OWN), cash(7, OWN)]);
            assert_eq!(heard(&queue), [0, 5, 6, 7]);
        }
    }

    #[test]
    fn a_strategy_that_leaves_too_many_events_unread_is_cut_off() {
        let queue = StrategyQueue::new(OWN);
        (0..=EVENTS_MAX as u64).for_each(|sequence| queue.push(&cash(sequence, OWN)));
        let lost = queue.receive(Duration::ZERO, &mut vec![]).unwrap_err();
        assert_eq!(lost, LinkLost("it left 16384 events of its orders unread".to_owned()));
    }
}
