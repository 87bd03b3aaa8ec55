//! Engine client of the strategy host: commands and queries in the name of the platform.

use std::collections::BTreeMap;
use std::sync::Arc;

use bus::history::{PageRequest, StoredEvent};
use bus::{Bus, InboxError, ReplyReceiver};
use domain::command::{
    CancelOrder, MarketDataSubscription, Mode, ReferenceChange, StrategyFailure, StrategyPhase, StrategyRequestKey,
};
use domain::query::{Filter, ProcessRun};
use domain::risk::RiskScope;
use domain::{
    Answer, Bar, BarSize, Caller, Command, CommandEnvelope, Event, IntId, PublishedEvent, Query, RiskLimits,
    SecurityId, StrategyId, StrategyRecord, Text, Timestamp,
};
use storage::BarFiles;
use strategy::{BarHistoryRequest, PriceHistory};

use super::link::strategy_queue::owner;

/// Events of one page of history.
const MISSED_EVENTS_PAGE: usize = 1_000;

/// The engine did not carry out a command, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandRefused(pub(super) String);

pub(super) struct EngineClient(pub(super) Bus);

impl EngineClient {
    pub(super) fn command(&self, command: Command) -> Result<Answer, CommandRefused> {
        let envelope = CommandEnvelope { caller: Caller::platform(), command };
        wait_reply(self.0.inbox.command(envelope)).map(|(_, answer)| answer)
    }

    fn query(&self, query: Query) -> Result<(u64, Answer), CommandRefused> {
        wait_reply(self.0.inbox.query(query))
    }

    pub(super) fn enter_phase(&self, strategy: StrategyId, phase: StrategyPhase) -> Result<(), CommandRefused> {
        self.enter_phase_as(Caller::platform(), strategy, phase)
    }

    /// INIT of a run in a strategy process: the journal has its number, so that it may go on at a later server.
    pub(super) fn begin_process_run(&self, strategy: StrategyId, run: u64) -> Result<(), CommandRefused> {
        let request = StrategyRequestKey { strategy, run, key: 0 };
        let caller = Caller { request: Some(Box::new(request)), ..Caller::platform() };
        self.enter_phase_as(caller, strategy, StrategyPhase::Init)
    }

    fn enter_phase_as(&self, caller: Caller, strategy: StrategyId, phase: StrategyPhase) -> Result<(), CommandRefused> {
        let command = Command::EnterPhase { strategy, mode: Mode::RealTime, phase, failure: None };
        wait_reply(self.0.inbox.command(CommandEnvelope { caller, command })).map(drop)
    }

    /// What the journal knows of the run that a process of the strategy began.
    pub(super) fn process_run(&self, strategy: StrategyId) -> Result<Option<ProcessRun>, CommandRefused> {
        let (_, Answer::ProcessRun(known)) = self.query(Query::ProcessRun(strategy))? else { return Ok(None) };
        Ok(known)
    }

    /// EXIT of a strategy that does not exit by itself; one without a phase needs none.
    pub(super) fn stop(&self, strategy: StrategyId, failure: Option<StrategyFailure>) -> Result<(), CommandRefused> {
        if !self.active_strategies()?.contains(&strategy) {
            return Ok(());
        }
        self.command(Command::EnterPhase { strategy, mode: Mode::RealTime, phase: StrategyPhase::Exit, failure })
            .map(drop)
    }

    /// The strategy of that name; one that reference data does not have is added, so that a new name needs no file.
    pub(super) fn strategy_named(&self, name: &str) -> Result<Arc<StrategyRecord>, CommandRefused> {
        if let Some(known) = self.0.catalogue.current().strategy_named(name) {
            return Ok(known.clone());
        }
        let last = self.0.catalogue.current().strategies.keys().next_back().map_or(1, |id| id.0);
        let added = StrategyRecord { id: StrategyId(last + 1), name: name.into(), auto_activate: true };
        self.command(Command::Reference(vec![ReferenceChange::Strategy(added.clone())]))?;
        Ok(Arc::new(added))
    }

    /// A number that no earlier run had: sequences are never given twice.
    pub(super) fn run_number(&self) -> Result<u64, CommandRefused> {
        self.query(Query::Phases).map(|(sequence, _)| sequence)
    }

    /// Strategies in a phase, according to the journal.
    pub(super) fn active_strategies(&self) -> Result<Vec<StrategyId>, CommandRefused> {
        let (_, Answer::Phases(phases)) = self.query(Query::Phases)? else { return Ok(vec![]) };
        Ok(phases
            .into_iter()
            .filter(|(_, phase, _)| *phase != StrategyPhase::Exit)
            .map(|(strategy, ..)| strategy)
            .collect())
    }

    /// Sets an order rate limit for a strategy that has no limits of its own.
    pub(super) fn set_rate_limit(&self, strategy: StrategyId, per_second: u32) -> Result<(), CommandRefused> {
        let (_, Answer::Limits(limits)) = self.query(Query::Limits)? else { return Ok(()) };
        let scope = RiskScope::Strategy(strategy);
        if limits.iter().any(|(known, _)| *known == scope) {
            return Ok(());
        }
        let limits = RiskLimits { orders_per_second: Some(per_second), ..RiskLimits::default() };
        self.command(Command::SetLimits { scope, limits }).map(drop)
    }

    /// The initial state of a strategy: positions, cash, open orders; as events.
    pub(super) fn snapshot(&self, strategy: StrategyId, at: Timestamp) -> Result<Vec<PublishedEvent>, CommandRefused> {
        let mut events = vec![];
        for query in state_queries(strategy) {
            let (sequence, answer) = self.query(query)?;
            events.extend(state_events(answer).into_iter().map(|event| PublishedEvent { sequence, at, event }));
        }
        Ok(events)
    }

    /// Events of a strategy after a sequence, for one that was disconnected: what it holds now, changes of its orders, then the
    /// current state.
    pub(super) fn missed_events(
        &self,
        strategy: StrategyId,
        after: u64,
        at: Timestamp,
        source: MissedSource,
    ) -> Result<Vec<PublishedEvent>, CommandRefused> {
        // Before history is read, so that no event is behind its state: a strategy goes on after the newest that it heard.
        let state = self.snapshot(strategy, at)?;
        let missed = self.recorded_events(after, |event| owner(event) == Some(strategy) || source.has(event))?;
        Ok(with_state(missed, state))
    }

    /// Whether history has everything up to now.
    pub(super) fn check_history(&self) -> Result<(), CommandRefused> {
        let as_of = self.0.journal.durable();
        let newest = PageRequest { after: as_of, limit: 1 };
        self.0.history.events(as_of, newest).map(drop).map_err(|error| CommandRefused(error.to_string()))
    }

    /// What history has after a sequence, as far as it is wanted.
    fn recorded_events(
        &self,
        after: u64,
        is_wanted: impl Fn(&Event) -> bool,
    ) -> Result<Vec<PublishedEvent>, CommandRefused> {
        let as_of = self.0.journal.durable();
        let mut wanted = vec![];
        let mut page = PageRequest { after, limit: MISSED_EVENTS_PAGE };
        loop {
            let events = self.0.history.events(as_of, page).map_err(|error| CommandRefused(error.to_string()))?;
            page.after = events.last().map_or(page.after, |event| event.sequence);
            // One that cannot be read may be the strategy's own: it is not left out.
            let unreadable = |event: &StoredEvent| format!("an event of sequence {} can't be read", event.sequence);
            for event in &events {
                let event = event.decode_event().ok_or_else(|| CommandRefused(unreadable(event)))?;
                wanted.extend(Some(event).filter(|event| is_wanted(&event.event)));
            }
            if events.len() < MISSED_EVENTS_PAGE {
                return Ok(wanted);
            }
        }
    }

    /// The requested bars, as far as the server has them: stored ones, and those of the engine.
    pub(super) fn history(&self, wishes: &[BarHistoryRequest], stored: &BarFiles, now: Timestamp) -> PriceHistory {
        let mut history = PriceHistory::default();
        for request in wishes {
            history.insert_bars(request, merge_bars(request, stored, now, self.bars(request.security, request.size)));
        }
        history
    }

    fn bars(&self, security: SecurityId, size: BarSize) -> Vec<Arc<Bar>> {
        match self.query(Query::Bars(security, size)) {
            Ok((_, Answer::Bars(bars))) => bars,
            _ => vec![],
        }
    }

    /// How many were cancelled. Why another one was not is in the log: it may have finished meanwhile, or its venue takes no cancels.
    pub(super) fn cancel_orders(&self, strategy: StrategyId) -> Result<usize, CommandRefused> {
        let filter = Filter { strategy: Some(strategy), ..Filter::default() };
        let (_, Answer::Orders(orders)) = self.query(Query::OpenOrders(filter))? else { return Ok(0) };
        let is_sent = |int_id: &IntId| match self.command(Command::Cancel(CancelOrder::new(int_id.clone()))) {
            Ok(_) => true,
            Err(CommandRefused(reason)) => {
                tracing::warn!(order = %int_id, %reason, "an order of a stopped strategy was not cancelled");
                false
            }
        };
        Ok(orders.iter().filter(|order| is_sent(&order.int_id)).count())
    }

    /// Halts the strategy at the risk gate and cancels its orders.
    pub(super) fn kill(&self, strategy: StrategyId, reason: &str) -> Result<(), CommandRefused> {
        self.command(Command::Kill { scope: RiskScope::Strategy(strategy), reason: Some(Text::from(reason)) }).map(drop)
    }

    pub(super) fn subscribed(&self, strategy: StrategyId) -> Vec<SecurityId> {
        let Ok((_, Answer::Subscriptions(all))) = self.query(Query::Subscriptions) else { return vec![] };
        all.into_iter().filter(|request| request.strategy == strategy).map(|request| request.security).collect()
    }

    pub(super) fn unsubscribe(&self, strategy: StrategyId, securities: Vec<SecurityId>) {
        for security in securities {
            // A security that was removed meanwhile needs no unsubscribing.
            let _ = self.command(Command::Unsubscribe(MarketDataSubscription { strategy, security }));
        }
    }
}

/// Where the events are that concern every strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissedSource {
    /// With the queue of the run: history has those of its orders.
    Queue,
    /// In history alone, because the run began at another server.
    History,
}

impl MissedSource {
    fn has(self, event: &Event) -> bool {
        self == Self::History && matches!(event, Event::Session(_) | Event::TradingState(_))
    }
}

/// What makes up the initial state of a strategy.
pub fn state_queries(strategy: StrategyId) -> [Query; 3] {
    let filter = Filter { strategy: Some(strategy), ..Filter::default() };
    [Query::OpenOrders(filter), Query::Positions(filter), Query::Balances(filter)]
}

/// Orders, positions and balances of an answer, as events for a strategy that begins.
pub fn state_events(answer: Answer) -> Vec<Event> {
    match answer {
        Answer::Orders(orders) => orders.into_iter().map(Event::Order).collect(),
        Answer::Positions(positions) => positions.into_iter().map(|held| Event::Position(Arc::new(held))).collect(),
        Answer::Balances(balances) => balances.into_iter().map(|cash| Event::Cash(Arc::new(cash))).collect(),
        _ => vec![],
    }
}

/// A strategy that hears of a fill finds it in its position and cash: these come before the first event, as a part of it, and once
/// more in the state.
fn with_state(missed: Vec<PublishedEvent>, state: Vec<PublishedEvent>) -> Vec<PublishedEvent> {
    let Some(sequence) = missed.first().map(|first| first.sequence) else { return state };
    let is_held = |published: &&PublishedEvent| matches!(published.event, Event::Position(_) | Event::Cash(_));
    let held = state.iter().filter(is_held).map(|published| PublishedEvent { sequence, ..published.clone() });
    let mut events: Vec<_> = held.collect();
    events.extend(missed);
    events.extend(state);
    events
}

/// Where both have a bar, the engine's is used: it has at least as much data.
fn merge_bars(request: &BarHistoryRequest, stored: &BarFiles, by: Timestamp, newer: Vec<Arc<Bar>>) -> Vec<Arc<Bar>> {
    let stored = stored.newest(request.security, request.size, request.bars, by).into_iter().map(Arc::new);
    let by_time: BTreeMap<Timestamp, Arc<Bar>> = stored.chain(newer).map(|bar| (bar.at, bar)).collect();
    by_time.into_values().collect()
}

fn wait_reply(ticket: Result<ReplyReceiver, InboxError>) -> Result<(u64, Answer), CommandRefused> {
    let ticket = ticket.map_err(|closed| CommandRefused(format!("the engine takes nothing: {closed:?}")))?;
    let reply = ticket.recv_blocking().map_err(|_| CommandRefused("the engine gave no answer".to_owned()))?;
    let answer = reply.outcome.map_err(|refusal| CommandRefused(refusal.to_string()))?;
    Ok((reply.sequence, answer))
}

#[cfg(test)]
mod tests {
    use domain::{Amount, BalanceId, CashBalance, Currency};

    use super::*;

    fn told(sequence: u64, event: Event) -> PublishedEvent {
        PublishedEvent { sequence, at: Timestamp(0), event }
    }

    fn cash() -> Event {
        let (id, account, currency) = (BalanceId(1), domain::AccountId(1), Currency::USD);
        let (venue_total, venue_locked) = (None, None);
        let strategy = StrategyId(7);
        Event::Cash(Arc::new(CashBalance {
            id,
            strategy,
            account,
            currency,
            amount: Amount::ZERO,
            venue_total,
            venue_locked,
        }))
    }

    #[test]
    fn what_is_held_comes_before_the_fills_that_made_it_and_open_orders_behind_what_became_of_them() {
        let [before, open] = [1, 2].map(|id| Event::Order(Arc::new(samples::order(id))));
        let state = vec![told(9, open.clone()), told(9, cash())];
        let events = with_state(vec![told(5, before.clone()), told(6, before.clone())], state.clone());
        assert_eq!(events, [told(5, cash()), told(5, before.clone()), told(6, before), told(9, open), told(9, cash())]);
        assert_eq!(with_state(vec![], state.clone()), state);
    }
}
