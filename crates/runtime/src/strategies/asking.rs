//! Engine client of the strategy host: commands and queries in the name of the platform.

use std::collections::BTreeMap;
use std::sync::Arc;

use bus::history::{Page, PastEvent};
use bus::{Bus, Closed, Ticket};
use domain::command::{CancelOrder, Failure, Mode, Phase, ReferenceChange, Subscription};
use domain::query::Filter;
use domain::risk::Scope;
use domain::{
    Answer, Bar, BarSize, Caller, Command, Envelope, Event, Limits, Published, Query, SecurityId, Strategy, StrategyId,
    Text, Timestamp,
};
use storage::BarFiles;
use strategy::{Past, Wish};

use super::mailbox::owner;

/// Events of one page of history.
const MISSED_PAGE: usize = 1_000;

/// The engine did not carry out a command, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unwilling(pub(super) String);

pub(super) struct Asking(pub(super) Bus);

impl Asking {
    pub(super) fn tell(&self, command: Command) -> Result<Answer, Unwilling> {
        let envelope = Envelope { caller: Caller::platform(), command };
        answer(self.0.inbox.command(envelope)).map(|(_, answer)| answer)
    }

    fn ask(&self, query: Query) -> Result<(u64, Answer), Unwilling> {
        answer(self.0.inbox.query(query))
    }

    pub(super) fn enter_phase(&self, strategy: StrategyId, phase: Phase) -> Result<(), Unwilling> {
        self.tell(Command::EnterPhase { strategy, mode: Mode::RealTime, phase, failure: None }).map(drop)
    }

    /// EXIT of a strategy that does not exit by itself; one without a phase needs none.
    pub(super) fn stop(&self, strategy: StrategyId, failure: Option<Failure>) -> Result<(), Unwilling> {
        if !self.in_a_phase()?.contains(&strategy) {
            return Ok(());
        }
        self.tell(Command::EnterPhase { strategy, mode: Mode::RealTime, phase: Phase::Exit, failure }).map(drop)
    }

    /// The strategy of that name; one that reference data does not have is added, so that a new name needs no file.
    pub(super) fn strategy_named(&self, name: &str) -> Result<Arc<Strategy>, Unwilling> {
        if let Some(known) = self.0.catalogue.now().strategy_named(name) {
            return Ok(known.clone());
        }
        let last = self.0.catalogue.now().strategies.keys().next_back().map_or(1, |id| id.0);
        let added = Strategy { id: StrategyId(last + 1), name: name.into(), auto_activate: true };
        self.tell(Command::Reference(vec![ReferenceChange::Strategy(added.clone())]))?;
        Ok(Arc::new(added))
    }

    /// A number that no earlier run had: sequences are never given twice.
    pub(super) fn run_number(&self) -> Result<u64, Unwilling> {
        self.ask(Query::Phases).map(|(sequence, _)| sequence)
    }

    /// Strategies in a phase, according to the journal.
    pub(super) fn in_a_phase(&self) -> Result<Vec<StrategyId>, Unwilling> {
        let (_, Answer::Phases(phases)) = self.ask(Query::Phases)? else { return Ok(vec![]) };
        Ok(phases.into_iter().filter(|(_, phase, _)| *phase != Phase::Exit).map(|(strategy, ..)| strategy).collect())
    }

    /// Sets an order rate limit for a strategy that has no limits of its own.
    pub(super) fn bind_rate(&self, strategy: StrategyId, per_second: u32) -> Result<(), Unwilling> {
        let (_, Answer::Limits(limits)) = self.ask(Query::Limits)? else { return Ok(()) };
        let scope = Scope::Strategy(strategy);
        if limits.iter().any(|(known, _)| *known == scope) {
            return Ok(());
        }
        let limits = Limits { orders_per_second: Some(per_second), ..Limits::default() };
        self.tell(Command::SetLimits { scope, limits }).map(drop)
    }

    /// The initial state of a strategy: positions, cash, open orders; as events.
    pub(super) fn picture(&self, strategy: StrategyId, at: Timestamp) -> Result<Vec<Published>, Unwilling> {
        let filter = Filter { strategy: Some(strategy), ..Filter::default() };
        let mut events = vec![];
        for query in [Query::OpenOrders(filter), Query::Positions(filter), Query::Balances(filter)] {
            let (sequence, answer) = self.ask(query)?;
            let told: Vec<Event> = match answer {
                Answer::Orders(orders) => orders.into_iter().map(Event::Order).collect(),
                Answer::Positions(positions) => {
                    positions.into_iter().map(|held| Event::Position(Arc::new(held))).collect()
                }
                Answer::Balances(balances) => balances.into_iter().map(|cash| Event::Cash(Arc::new(cash))).collect(),
                _ => vec![],
            };
            events.extend(told.into_iter().map(|event| Published { sequence, at, event }));
        }
        Ok(events)
    }

    /// Events of a strategy after a sequence, for one that was disconnected: changes of its orders, then the current
    /// state.
    pub(super) fn missed(&self, strategy: StrategyId, after: u64, at: Timestamp) -> Result<Vec<Published>, Unwilling> {
        let as_of = self.0.operations.durable();
        let mut missed = vec![];
        let mut page = Page { after, limit: MISSED_PAGE };
        loop {
            let events = self.0.history.events(as_of, page).map_err(|error| Unwilling(error.to_string()))?;
            page.after = events.last().map_or(page.after, |event| event.sequence);
            let is_last = events.len() < MISSED_PAGE;
            let own = |published: &Published| owner(&published.event) == Some(strategy);
            missed.extend(events.iter().filter_map(PastEvent::published).filter(own));
            if is_last {
                break;
            }
        }
        missed.extend(self.picture(strategy, at)?);
        Ok(missed)
    }

    /// The requested bars, as far as the server has them: stored ones, and those of the engine.
    pub(super) fn past(&self, wishes: &[Wish], stored: &BarFiles, now: Timestamp) -> Past {
        let mut past = Past::default();
        for wish in wishes {
            past.fulfil(wish, joined(wish, stored, now, self.bars(wish.security, wish.size)));
        }
        past
    }

    fn bars(&self, security: SecurityId, size: BarSize) -> Vec<Arc<Bar>> {
        match self.ask(Query::Bars(security, size)) {
            Ok((_, Answer::Bars(bars))) => bars,
            _ => vec![],
        }
    }

    pub(super) fn cancel_orders(&self, strategy: StrategyId) -> Result<usize, Unwilling> {
        let filter = Filter { strategy: Some(strategy), ..Filter::default() };
        let (_, Answer::Orders(orders)) = self.ask(Query::OpenOrders(filter))? else { return Ok(0) };
        let cancel = |int_id| self.tell(Command::Cancel(CancelOrder::of(int_id)));
        // An order that finished or is being cancelled meanwhile needs no cancel.
        Ok(orders.into_iter().filter(|order| cancel(order.int_id.clone()).is_ok()).count())
    }

    /// Halts the strategy at the risk gate and cancels its orders.
    pub(super) fn kill(&self, strategy: StrategyId, reason: &str) -> Result<(), Unwilling> {
        self.tell(Command::Kill { scope: Scope::Strategy(strategy), reason: Some(Text::from(reason)) }).map(drop)
    }

    pub(super) fn subscribed(&self, strategy: StrategyId) -> Vec<SecurityId> {
        let Ok((_, Answer::Subscriptions(all))) = self.ask(Query::Subscriptions) else { return vec![] };
        all.into_iter().filter(|wish| wish.strategy == strategy).map(|wish| wish.security).collect()
    }

    pub(super) fn unsubscribe(&self, strategy: StrategyId, securities: Vec<SecurityId>) {
        for security in securities {
            // A security that was removed meanwhile needs no unsubscribing.
            let _ = self.tell(Command::Unsubscribe(Subscription { strategy, security }));
        }
    }
}

/// Where both have a bar, the engine's is used: it has at least as much data.
fn joined(wish: &Wish, stored: &BarFiles, by: Timestamp, newer: Vec<Arc<Bar>>) -> Vec<Arc<Bar>> {
    let stored = stored.newest(wish.security, wish.size, wish.bars, by).into_iter().map(Arc::new);
    let by_time: BTreeMap<Timestamp, Arc<Bar>> = stored.chain(newer).map(|bar| (bar.at, bar)).collect();
    by_time.into_values().collect()
}

fn answer(ticket: Result<Ticket, Closed>) -> Result<(u64, Answer), Unwilling> {
    let ticket = ticket.map_err(|closed| Unwilling(format!("the engine takes nothing: {closed:?}")))?;
    let reply = ticket.reply_blocking().map_err(|_| Unwilling("the engine gave no answer".to_owned()))?;
    let answer = reply.outcome.map_err(|refusal| Unwilling(refusal.to_string()))?;
    Ok((reply.sequence, answer))
}
