//! Strategy phases of a run, with the warm-up between INIT and PREFEED.

use std::sync::Arc;

use domain::command::{CancelOrder, Mode, StrategyFailureKind, StrategyPhase};
use domain::query::{Answer, Filter};
use domain::risk::RiskScope;
use domain::{Bar, BarSize, Command, SecurityId, Timestamp};
use storage::price_files::PriceRecord;
use strategy::PriceHistory;

use super::Simulation;
use super::run_input::{OpeningCash, SimulationError};
use crate::strategies::OnFailure;

impl Simulation<'_> {
    /// INIT, warm-up, PREFEED, START, RUN; returns when trading began.
    pub(super) fn start(&mut self) -> Result<Timestamp, SimulationError> {
        self.enter_phase(StrategyPhase::Init, &[])?;
        self.select_bar_sources();
        let memory = self.warm_up()?;
        let first_day = self.find_first_day()?;
        let pasts: Vec<PriceHistory> = self.strategies.runners().iter().map(|runner| memory.history(runner)).collect();
        self.enter_phase(StrategyPhase::Prefeed, &pasts)?;
        self.fund()?;
        // Orders are accepted from START on, so the observer begins there.
        self.driver.begin(self.now)?;
        self.strategies.runners().iter().for_each(|runner| self.driver.notify_selection(runner));
        self.enter_phase(StrategyPhase::Start, &[])?;
        self.enter_phase(StrategyPhase::Run, &[])?;
        self.next_valuation = Timestamp(self.now.0.saturating_add(self.valuation_nanos));
        self.begin_day(first_day);
        self.update_next_due();
        Ok(self.now)
    }

    /// Accounts without subscribed securities get no cash, since it would only lower every return. Where a strategy has
    /// no subscriptions so far, anything may be traded, and all get theirs.
    fn fund(&mut self) -> Result<(), SimulationError> {
        let cash = std::mem::take(&mut self.opening_cash);
        let is_open = self.strategies.runners().iter().any(|runner| runner.selection().securities().next().is_none());
        let is_wanted =
            |of: &OpeningCash| of.securities.iter().any(|security| self.strategies.is_subscribed(*security));
        let all = is_open || !cash.iter().any(is_wanted);
        let given: Vec<_> = cash.into_iter().filter(|of| all || is_wanted(of)).collect();
        for OpeningCash { credit, .. } in given {
            self.driver.command(self.now, credit, &mut self.strategies, &mut self.venues)?;
        }
        Ok(())
    }

    /// An instant of the first day with anything to play: a row, or the close of a bar that began in the warm-up.
    fn find_first_day(&mut self) -> Result<Timestamp, SimulationError> {
        self.lookahead_row = self.next_row()?;
        let shown = self.lookahead_row.as_ref().map(PriceRecord::at);
        let closes = self.pending.next_due().filter(|due| self.is_played(*due)).map(super::day_of_close);
        shown.into_iter().chain(closes).min().ok_or(SimulationError::NoData)
    }

    /// Whether that is known when the run ends: what had closed and arrived by then.
    fn is_played(&self, at: Timestamp) -> bool {
        self.until.is_none_or(|until| at <= until)
    }

    fn enter_phase(&mut self, phase: StrategyPhase, pasts: &[PriceHistory]) -> Result<(), SimulationError> {
        let nothing = PriceHistory::default();
        for (runner, strategy) in self.strategies.active_ids() {
            let command = Command::EnterPhase { strategy, mode: Mode::Simulation, phase, failure: None };
            self.driver.command(self.now, command, &mut self.strategies, &mut self.venues)?;
            self.strategies.enter_phase(runner, phase, self.now, pasts.get(runner).unwrap_or(&nothing));
        }
        self.run_until_quiet()
    }

    /// Delivers what arrives by the end; then EXIT, and the end is published with its instant.
    pub(super) fn finish(&mut self) -> Result<Timestamp, SimulationError> {
        while let Some(due) = self.next_pending() {
            self.run_until(due)?;
        }
        self.driver.set_observed_time(Some(self.effective_time()));
        self.enter_phase(StrategyPhase::Exit, &[])?;
        self.driver.notify_end_of_data();
        self.cancel_remaining()?;
        let to = self.effective_time();
        self.driver.set_observed_time(Some(to));
        self.now = self.now.plus_seconds(1);
        self.driver.revalue_at_end(self.now, &mut self.last_prices, &mut self.strategies, &mut self.venues)?;
        if self.day_ends != super::run_input::NEVER {
            self.driver.notify_end_of_day(to)?;
        }
        self.strategies.end(self.now);
        Ok(to)
    }

    /// Where the data ends it is unknown whether the span of a longer bar is over; where the plan ends it, it is.
    fn next_pending(&self) -> Option<Timestamp> {
        let made = self.aggregator.next_due().filter(|_| self.until.is_some());
        self.pending.next_due().into_iter().chain(made).min().filter(|due| self.is_played(*due))
    }

    /// Failed strategies are stopped alone, as in live: the risk gate closes for one that floods, open orders are
    /// handled by policy, then EXIT. Returns whether there were any.
    pub(super) fn stop_failed(&mut self) -> Result<bool, SimulationError> {
        let falling = self.strategies.take_failed();
        let any = !falling.is_empty();
        for (strategy, name, failure) in falling {
            self.driver.notify_failure(self.now, &name, &failure);
            if failure.kind == StrategyFailureKind::Flooded {
                let kill = Command::Kill { scope: RiskScope::Strategy(strategy), reason: Some("it floods".into()) };
                self.driver.command(self.now, kill, &mut self.strategies, &mut self.venues)?;
            }
            if self.on_failure == OnFailure::Cancel {
                self.cancel(Filter { strategy: Some(strategy), ..Filter::default() });
            }
            let (mode, phase, failure) = (Mode::Simulation, StrategyPhase::Exit, Some(failure));
            let exit = Command::EnterPhase { strategy, mode, phase, failure };
            self.driver.command(self.now, exit, &mut self.strategies, &mut self.venues)?;
        }
        Ok(any)
    }

    fn cancel(&mut self, whose: Filter) {
        for order in self.driver.open_orders(self.now, whose) {
            let cancel = CancelOrder::new(order.int_id.clone());
            // An order with a pending cancel needs no second one.
            let _ = self.driver.command(self.now, Command::Cancel(cancel), &mut self.strategies, &mut self.venues);
        }
    }

    /// Cancels orders that no price can fill any more.
    fn cancel_remaining(&mut self) -> Result<(), SimulationError> {
        self.cancel(Filter::default());
        while let Some(due) = self.venues.next_due() {
            self.now = self.now.max(due);
            self.run_until_quiet()?;
        }
        self.run_until_quiet()
    }
}

impl super::engine_driver::EngineDriver<'_> {
    pub(super) fn bars(&self, at: Timestamp, security: SecurityId, size: BarSize) -> Vec<Arc<Bar>> {
        match self.query(at, &domain::Query::Bars(security, size)) {
            Ok(Answer::Bars(bars)) => bars,
            _ => Vec::new(),
        }
    }

    fn open_orders(&self, at: Timestamp, whose: Filter) -> Vec<Arc<domain::Order>> {
        match self.query(at, &domain::Query::OpenOrders(whose)) {
            Ok(Answer::Orders(orders)) => orders,
            _ => Vec::new(),
        }
    }
}
