//! What the strategy was told, held against the journal.

use domain::command::PlaceOrder;
use domain::{Event, IntId, Order, Source, StrategyId};

use super::strategy_log::{StrategyLog, StrategyLogState};
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{InvariantResult, ensure};

const NOT_IN_ORDER: &str = "a strategy's events are not in order";

impl StrategyLog {
    /// What the strategy placed is there where it was not refused, nothing else is, and each run was told everything once and in order;
    /// the last one up to the given sequence.
    pub(crate) fn check(&self, books: &JournalBooks, complete_through: Option<u64>) -> InvariantResult {
        let mut state = self.lock();
        let changed = books.events.range(state.through + 1..).flat_map(|(_, events)| events).filter_map(own_order);
        for order in changed {
            let (id, placed) = (&order.int_id, state.placed.get(&order.int_id));
            ensure(placed.is_some(), "an order that nobody placed", || format!("{order:?}"))?;
            let accepted = books.accepted.get(&order.id);
            let is_as_asked = placed.zip(accepted).is_some_and(|(placed, accepted)| is_as_placed(accepted, placed));
            ensure(is_as_asked, "the journal has other terms than its client asked for", || {
                format!("{accepted:?} instead of {placed:?}")
            })?;
            ensure(!state.refused.contains(id), "refused and there all the same", || format!("{order:?}"))?;
        }
        state.extend(books, self.id());
        // A run that was told nothing more since it was checked is not checked again before the end.
        let is_final = complete_through.is_some();
        let is_new = |run: &u64, told: &Vec<Event>| state.checked.get(run) != Some(&told.len());
        for (run, told) in state.runs.iter().filter(|(run, told)| is_final || is_new(run, told)) {
            state.check_run(&self.prefix(*run), *run, told)?;
        }
        state.checked = state.runs.iter().map(|(run, told)| (*run, told.len())).collect();
        match (complete_through, state.runs.last_key_value()) {
            (Some(through), Some((run, told))) => state.check_complete(&self.prefix(*run), *run, told, through),
            _ => Ok(()),
        }
    }

    /// Of the ids of a run's orders.
    fn prefix(&self, run: u64) -> String {
        format!("{}-{run}-", self.market().strategy.name)
    }
}

impl StrategyLogState {
    fn extend(&mut self, books: &JournalBooks, strategy: StrategyId) {
        for (sequence, events) in books.events.range(self.through + 1..) {
            let own = events.iter().filter(|event| is_followed(event, strategy));
            self.due.extend(own.map(|event| (*sequence, event.clone())));
        }
        self.through = books.events.last_key_value().map_or(self.through, |(last, _)| self.through.max(*last));
    }

    /// Where the events of a run begin: with the first that it was told of, or where there is none, with its own first order.
    fn begins(&self, prefix: &str, told: &[Event]) -> usize {
        let is_first = |due: &Event| match told.first() {
            Some(first) => due == first,
            None => is_of_run(due, prefix),
        };
        self.due.iter().position(|(_, due)| is_first(due)).unwrap_or(self.due.len())
    }

    fn check_run(&self, prefix: &str, run: u64, told: &[Event]) -> InvariantResult {
        let begins = self.begins(prefix, told);
        for (told, (sequence, due)) in told.iter().zip(&self.due[begins..]) {
            ensure(told == due, NOT_IN_ORDER, || {
                format!("run {run} was told {told:?}, input {sequence} of the journal gives {due:?}")
            })?;
        }
        let phantom = told.get(self.due.len() - begins);
        ensure(phantom.is_none(), NOT_IN_ORDER, || format!("run {run} was told {phantom:?}, the journal does not"))?;
        // It can place orders only when it is told of them, too.
        let missed = self.due[..begins].iter().find(|(_, due)| is_of_run(due, prefix));
        ensure(missed.is_none(), NOT_IN_ORDER, || format!("run {run} was never told {missed:?}"))
    }

    fn check_complete(&self, prefix: &str, run: u64, told: &[Event], through: u64) -> InvariantResult {
        let next = self.due.get(self.begins(prefix, told) + told.len()).filter(|(sequence, _)| *sequence <= through);
        ensure(next.is_none(), "a strategy's events are incomplete", || format!("run {run} was never told {next:?}"))
    }
}

fn own_order(event: &Event) -> Option<&Order> {
    match event {
        Event::Order(order) if order.source == Source::Strategy => Some(order),
        _ => None,
    }
}

fn is_as_placed(order: &Order, placed: &PlaceOrder) -> bool {
    let terms = (order.terms.quantity, order.terms.kind, order.terms.tif);
    (order.side, order.security, Some(order.account)) == (placed.side, placed.security, placed.account)
        && terms == (placed.quantity, placed.kind, placed.tif)
}

/// The events that no run may miss.
fn is_followed(event: &Event, strategy: StrategyId) -> bool {
    match event {
        Event::Order(order) => order.strategy == strategy,
        Event::OrderStatus(status) => status.strategy == strategy,
        Event::Fill(fill) => fill.strategy == strategy,
        Event::Transaction(transaction) => transaction.strategy == strategy,
        _ => false,
    }
}

/// Whether it is of an order that the run has placed.
fn is_of_run(event: &Event, prefix: &str) -> bool {
    order_of(event).is_some_and(|order| order.as_str().starts_with(prefix))
}

fn order_of(event: &Event) -> Option<&IntId> {
    match event {
        Event::Order(order) => Some(&order.int_id),
        Event::OrderStatus(status) => Some(&status.int_id),
        Event::Fill(fill) => Some(&fill.int_id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const PREFIX: &str = "SEEDED-7-";

    fn placed(int_id: &str) -> Event {
        let int_id = int_id.parse().unwrap();
        Event::Order(Arc::new(Order { int_id, ..samples::order(1) }))
    }

    /// The journal has an order of a run before, then two of run 7.
    fn state() -> StrategyLogState {
        let ids = ["SEEDED-3-1", "SEEDED-7-1", "SEEDED-7-2"];
        let due = (5..).zip(ids.map(placed)).collect();
        StrategyLogState { due, ..StrategyLogState::default() }
    }

    fn complete(told: &[Event], through: u64) -> Result<(), &'static str> {
        let checked = state().check_run(PREFIX, 7, told);
        checked.and_then(|()| state().check_complete(PREFIX, 7, told, through)).map_err(|broken| broken.invariant)
    }

    #[test]
    fn a_run_that_placed_orders_and_was_told_nothing_breaks_the_promise() {
        assert_eq!(complete(&[], 7), Err("a strategy's events are incomplete"));
        assert_eq!(complete(&[], 5), Ok(()), "its orders are behind the end");
        assert_eq!(state().check_complete("SEEDED-9-", 9, &[], 7), Ok(()), "it placed nothing");
    }

    #[test]
    fn a_run_is_told_all_from_its_first_order_on() {
        let own = ["SEEDED-7-1", "SEEDED-7-2"].map(placed);
        assert_eq!(complete(&own, 7), Ok(()));
        assert_eq!(complete(&own[..1], 7), Err("a strategy's events are incomplete"));
        assert_eq!(complete(&own[1..], 7), Err(NOT_IN_ORDER));
    }
}
