//! Strategy phases of a run, with the warm-up between INIT and PREFEED.

use std::sync::Arc;

use domain::command::{CancelOrder, FailureKind, Mode, Phase};
use domain::query::{Answer, Filter};
use domain::risk::Scope;
use domain::{Bar, BarSize, Command, SecurityId, Timestamp};
use storage::history::Recorded;
use strategy::Past;

use super::Simulation;
use super::setup::{OpeningCash, SimulationError};
use crate::strategies::OnFailure;

impl Simulation<'_> {
    /// INIT, warm-up, PREFEED, START, RUN; returns when trading began.
    pub(super) fn begin(&mut self) -> Result<Timestamp, SimulationError> {
        self.enter(Phase::Init, &[])?;
        self.choose_bar_makers();
        let memory = self.warm_up()?;
        let first_day = self.find_first_day()?;
        let pasts: Vec<Past> = self.crew.seats().iter().map(|seat| memory.past(seat)).collect();
        self.enter(Phase::Prefeed, &pasts)?;
        self.fund()?;
        // Orders are accepted from START on, so the observer begins there.
        self.desk.begin(self.now)?;
        self.crew.seats().iter().for_each(|seat| self.desk.tell_wants(seat));
        self.enter(Phase::Start, &[])?;
        self.enter(Phase::Run, &[])?;
        self.next_valuation = Timestamp(self.now.0.saturating_add(self.valuation_nanos));
        self.begin_day(first_day);
        self.find_due();
        Ok(self.now)
    }

    /// Accounts without subscribed securities get no cash, since it would only lower every return. Where a strategy has
    /// no subscriptions so far, anything may be traded, and all get theirs.
    fn fund(&mut self) -> Result<(), SimulationError> {
        let cash = std::mem::take(&mut self.opening_cash);
        let is_open = self.crew.seats().iter().any(|seat| seat.selection().securities().next().is_none());
        let is_wanted = |of: &OpeningCash| of.securities.iter().any(|security| self.crew.wants(*security));
        let all = is_open || !cash.iter().any(is_wanted);
        let given: Vec<_> = cash.into_iter().filter(|of| all || is_wanted(of)).collect();
        for OpeningCash { credit, .. } in given {
            self.desk.command(self.now, credit, &mut self.crew, &mut self.floor)?;
        }
        Ok(())
    }

    /// An instant of the first day with anything to play: a row, or the close of a bar that began in the warm-up.
    fn find_first_day(&mut self) -> Result<Timestamp, SimulationError> {
        self.held = self.next_row()?;
        let shown = self.held.as_ref().map(Recorded::at);
        let closes = self.ahead.next_due().filter(|due| self.is_played(*due)).map(super::counted);
        shown.into_iter().chain(closes).min().ok_or(SimulationError::NoData)
    }

    /// Whether that is known when the run ends: what had closed and arrived by then.
    fn is_played(&self, at: Timestamp) -> bool {
        self.until.is_none_or(|until| at <= until)
    }

    fn enter(&mut self, phase: Phase, pasts: &[Past]) -> Result<(), SimulationError> {
        let nothing = Past::default();
        for (seat, strategy) in self.crew.standing_ids() {
            let command = Command::EnterPhase { strategy, mode: Mode::Simulation, phase, failure: None };
            self.desk.command(self.now, command, &mut self.crew, &mut self.floor)?;
            self.crew.enter(seat, phase, self.now, pasts.get(seat).unwrap_or(&nothing));
        }
        self.settle()
    }

    /// Delivers what arrives by the end; then EXIT, and the end is published with its instant.
    pub(super) fn end(&mut self) -> Result<Timestamp, SimulationError> {
        while let Some(due) = self.next_to_come() {
            self.run_until(due)?;
        }
        self.desk.tell_as(Some(self.counts_as()));
        self.enter(Phase::Exit, &[])?;
        self.desk.tell_end_of_data();
        self.cancel_the_rest()?;
        let to = self.counts_as();
        self.desk.tell_as(Some(to));
        self.now = self.now.plus_seconds(1);
        self.desk.value_at_end(self.now, &mut self.tape, &mut self.crew, &mut self.floor)?;
        if self.day_ends != super::NEVER {
            self.desk.tell_end_of_day(to)?;
        }
        self.crew.end(self.now);
        Ok(to)
    }

    /// Where the data ends it is unknown whether the span of a longer bar is over; where the plan ends it, it is.
    fn next_to_come(&self) -> Option<Timestamp> {
        let made = self.larger.next_due().filter(|_| self.until.is_some());
        self.ahead.next_due().into_iter().chain(made).min().filter(|due| self.is_played(*due))
    }

    /// Failed strategies are stopped alone, as in live: the risk gate closes for one that floods, open orders are
    /// handled by policy, then EXIT. Returns whether there were any.
    pub(super) fn look_after_fallen(&mut self) -> Result<bool, SimulationError> {
        let falling = self.crew.take_falling();
        let any = !falling.is_empty();
        for (strategy, name, failure) in falling {
            self.desk.tell_fall(self.now, &name, &failure);
            if failure.kind == FailureKind::Flooded {
                let kill = Command::Kill { scope: Scope::Strategy(strategy), reason: Some("it floods".into()) };
                self.desk.command(self.now, kill, &mut self.crew, &mut self.floor)?;
            }
            if self.on_failure == OnFailure::Cancel {
                self.cancel(Filter { strategy: Some(strategy), ..Filter::default() });
            }
            let (mode, phase, failure) = (Mode::Simulation, Phase::Exit, Some(failure));
            let exit = Command::EnterPhase { strategy, mode, phase, failure };
            self.desk.command(self.now, exit, &mut self.crew, &mut self.floor)?;
        }
        Ok(any)
    }

    fn cancel(&mut self, whose: Filter) {
        for order in self.desk.open_orders(self.now, whose) {
            let cancel = CancelOrder::of(order.int_id.clone());
            // An order with a pending cancel needs no second one.
            let _ = self.desk.command(self.now, Command::Cancel(cancel), &mut self.crew, &mut self.floor);
        }
    }

    /// Cancels orders that no price can fill any more.
    fn cancel_the_rest(&mut self) -> Result<(), SimulationError> {
        self.cancel(Filter::default());
        while let Some(due) = self.floor.next_due() {
            self.now = self.now.max(due);
            self.settle()?;
        }
        self.settle()
    }
}

impl super::desk::Desk<'_> {
    pub(super) fn bars(&self, at: Timestamp, security: SecurityId, size: BarSize) -> Vec<Arc<Bar>> {
        match self.ask(at, &domain::Query::Bars(security, size)) {
            Ok(Answer::Bars(bars)) => bars,
            _ => Vec::new(),
        }
    }

    fn open_orders(&self, at: Timestamp, whose: Filter) -> Vec<Arc<domain::Order>> {
        match self.ask(at, &domain::Query::OpenOrders(whose)) {
            Ok(Answer::Orders(orders)) => orders,
            _ => Vec::new(),
        }
    }
}
