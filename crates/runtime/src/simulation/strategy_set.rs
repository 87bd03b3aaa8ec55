//! Strategy set of a simulation: delivers events and collects commands.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use domain::command::{StrategyFailure, StrategyPhase};
use domain::{
    BarSize, Caller, Command, CommandEnvelope, Event, PublishedEvent, Refusal, SecurityId, Source, StrategyId, Text,
    Tick, Timestamp,
};
use strategy::{PriceHistory, PriceKind, StrategyRunner};

use super::run_input::RunProgress;
use crate::strategies::failures::{self, RateWindow};

/// Rounds of commands and replies at one instant; a strategy that needs more is stopped as livelocked.
pub(super) const ROUNDS_MAX: u32 = 10_000;

#[derive(Default)]
pub(super) struct StrategySet {
    runners: Vec<StrategyRunner>,
    /// By index: whether the strategy failed. It gets no more events; the others continue.
    failed: Vec<bool>,
    /// Failures that are not handled yet.
    failing: Vec<(usize, StrategyFailure)>,
    /// By index.
    rate_windows: Vec<RateWindow>,
    progress: Arc<RunProgress>,
}

impl StrategySet {
    pub(super) fn new(seats: Vec<StrategyRunner>, progress: Arc<RunProgress>) -> Self {
        let (failed, rate_windows) = (vec![false; seats.len()], vec![RateWindow::default(); seats.len()]);
        let runners = seats.into_iter().map(StrategyRunner::with_recorded_prices).collect();
        Self { runners, failed, failing: Vec::new(), rate_windows, progress }
    }

    #[inline]
    pub(super) fn on_event(&mut self, published: &PublishedEvent) {
        for place in 0..self.runners.len() {
            self.call(place, |runner| runner.on_published(published));
        }
    }

    #[inline]
    pub(super) fn on_tick(&mut self, at: Timestamp, tick: &Tick) {
        for place in 0..self.runners.len() {
            self.call(place, |runner| runner.on_tick(at, tick));
        }
    }

    /// All events of one input.
    pub(super) fn on_events(&mut self, at: Timestamp, events: &[Event]) {
        for place in 0..self.runners.len() {
            self.call(place, |runner| events.iter().for_each(|event| runner.on_event(at, event)));
        }
    }

    pub(super) fn enter_phase(&mut self, place: usize, phase: StrategyPhase, now: Timestamp, history: &PriceHistory) {
        self.call(place, |runner| runner.enter_phase(phase, now, history));
    }

    pub(super) fn end(&mut self, now: Timestamp) {
        (0..self.runners.len()).for_each(|place| self.call(place, |runner| runner.end_of_simulation(now)));
    }

    pub(super) fn advance(&mut self, now: Timestamp) {
        (0..self.runners.len()).for_each(|place| self.call(place, |runner| runner.advance(now)));
    }

    pub(super) fn on_refusal(&mut self, place: usize, now: Timestamp, command: Command, refusal: &Refusal) {
        if failures::is_rate_refusal(refusal, self.runners[place].identity().id)
            && self.rate_windows[place].record_and_check(now)
        {
            self.fail(place, failures::flooded(failures::ORDER_RATE_EXCEEDED));
        }
        self.call(place, |runner| runner.on_refusal(now, command, refusal));
    }

    /// A strategy that panics fails alone.
    #[inline]
    fn call(&mut self, place: usize, what: impl FnOnce(&mut StrategyRunner)) {
        if self.failed[place] {
            return;
        }
        self.progress.enter_callback(place);
        let runner = &mut self.runners[place];
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| what(runner))) {
            self.fail(place, failures::panicked(&failures::message_of(&*panic)));
        }
        self.progress.leave_callback();
    }

    fn fail(&mut self, place: usize, failure: StrategyFailure) {
        if !std::mem::replace(&mut self.failed[place], true) {
            self.failing.push((place, failure));
        }
    }

    /// Strategies that failed since the last call, and how.
    pub(super) fn take_failed(&mut self) -> Vec<(StrategyId, Text, StrategyFailure)> {
        if self.failing.is_empty() {
            return Vec::new();
        }
        let who = |(place, failure): (usize, StrategyFailure)| {
            let who = self.runners[place].identity();
            (who.id, who.name.clone(), failure)
        };
        std::mem::take(&mut self.failing).into_iter().map(who).collect()
    }

    /// After too many rounds at one instant: strategies that still send commands are livelocked.
    pub(super) fn fail_livelocked(&mut self) {
        let asking: Vec<usize> = (0..self.runners.len()).filter(|place| self.runners[*place].has_commands()).collect();
        asking.into_iter().for_each(|place| self.fail(place, failures::flooded(failures::LIVELOCKED)));
    }

    pub(super) fn next_timer(&self) -> Option<Timestamp> {
        self.active().filter_map(StrategyRunner::next_timer).min()
    }

    /// Whether there are commands or failures to handle.
    #[inline]
    pub(super) fn has_commands(&self) -> bool {
        !self.failing.is_empty() || self.active().any(|runner| runner.has_commands() || runner.has_new_bar_sizes())
    }

    /// Whether any strategy wants bars of a new size.
    pub(super) fn take_new_bar_sizes(&mut self) -> bool {
        // Every runner is read, so that none reports the same twice.
        self.runners.iter_mut().filter_map(|runner| runner.take_new_bar_sizes().then_some(())).count() > 0
    }

    /// Commands of all strategies, in the order of their runners. None of a flooding strategy is carried out.
    pub(super) fn drain_commands(&mut self, commands: &mut Vec<(usize, Box<CommandEnvelope>)>) {
        for place in 0..self.runners.len() {
            if !self.runners[place].has_commands() {
                continue;
            }
            if self.runners[place].is_flooding() {
                self.fail(place, failures::flooded(failures::CALLBACK_COMMANDS_EXCEEDED));
            }
            let runner = &mut self.runners[place];
            let caller = Caller::new(Source::Strategy, Some(runner.identity().name.clone()));
            let asked = runner.commands();
            if self.failed[place] {
                drop(asked);
            } else {
                let signed = |command| (place, Box::new(CommandEnvelope { caller: caller.clone(), command }));
                commands.extend(asked.map(signed));
            }
        }
    }

    #[inline]
    fn active(&self) -> impl Iterator<Item = &StrategyRunner> {
        self.runners.iter().zip(&self.failed).filter(|(_, fallen)| !**fallen).map(|(runner, _)| runner)
    }

    pub(super) fn name(&self, runner: usize) -> Text {
        self.runners[runner].identity().name.clone()
    }

    /// Indexes and ids of strategies that did not fail.
    pub(super) fn active_ids(&self) -> Vec<(usize, StrategyId)> {
        let ids = self.runners.iter().map(|runner| runner.identity().id).enumerate();
        ids.filter(|(place, _)| !self.failed[*place]).collect()
    }

    pub(super) fn is_subscribed(&self, security: SecurityId) -> bool {
        self.runners.iter().any(|runner| runner.selection().contains(security))
    }

    pub(super) fn is_subscribed_to_bars(&self, security: SecurityId, size: BarSize) -> bool {
        let wishes = |runner: &StrategyRunner| {
            runner.history_requests().iter().any(|request| request.security == security && request.size == size)
        };
        self.runners.iter().any(|runner| runner.selection().wants(security, PriceKind::Bars(size)) || wishes(runner))
    }

    pub(super) fn runners(&self) -> &[StrategyRunner] {
        &self.runners
    }
}
