//! Engine driver: stamps and applies one input and distributes its output.

use std::sync::Arc;

use domain::command::{MarketData, StrategyFailure};
use domain::order::ExecType;
use domain::query::{Answer, EngineResult};
use domain::report::Report;
use domain::{
    Bar, Caller, Command, CommandEnvelope, Event, Input, Mark, PublishedEvent, Query, Sequenced, Text, Timestamp,
};
use engine::{Engine, Outbox};
use storage::price_files::PriceRecord;
use strategy::StrategyRunner;

use super::digest::RunDigest;
use super::last_prices::LastPrices;
use super::observer::Observer;
use super::run_input::{SimulationError, SimulationResult};
use super::strategy_set::StrategySet;
use super::venues::ReplayVenues;

pub(super) struct EngineDriver<'a> {
    engine: Engine,
    out: Outbox,
    sequence: u64,
    observer: &'a mut dyn Observer,
    digest: RunDigest,
    orders: u64,
    fills: u64,
    /// Whether something was filled since values were published.
    traded: bool,
    /// The time that the observer gets instead of the real one.
    observed_time: Option<Timestamp>,
    /// Empty in between; kept for its memory.
    commands: Vec<(usize, Box<CommandEnvelope>)>,
}

impl<'a> EngineDriver<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer) -> Self {
        Self {
            engine: Engine::default(),
            out: Outbox::default(),
            sequence: 0,
            observer,
            digest: RunDigest::default(),
            orders: 0,
            fills: 0,
            traded: false,
            observed_time: None,
            commands: Vec::new(),
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.engine.next_deadline()
    }

    pub(super) fn notify_progress(&mut self, events: u64, (read, total): (u64, u64)) {
        self.observer.on_progress(events, read, total);
    }

    /// From now on the observer gets this time instead of the real one; `None` ends that.
    pub(super) fn set_observed_time(&mut self, told: Option<Timestamp>) {
        self.observed_time = told;
    }

    pub(super) fn notify_end_of_day(&mut self, at: Timestamp) -> Result<(), SimulationError> {
        self.observer.on_day_end(self.observed_time.unwrap_or(at)).map_err(SimulationError::Observer)
    }

    pub(super) fn notify_selection(&mut self, runner: &StrategyRunner) {
        self.observer.on_selection(&runner.identity().name, runner.selection());
    }

    pub(super) fn notify_end_of_data(&mut self) {
        self.observer.on_data_end();
    }

    pub(super) fn notify_failure(&mut self, at: Timestamp, strategy: &Text, failure: &StrategyFailure) {
        self.observer.on_failure(self.observed_time.unwrap_or(at), strategy, failure);
    }

    /// A command of the platform itself, which must be carried out.
    pub(super) fn command(
        &mut self,
        at: Timestamp,
        command: Command,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<Answer, SimulationError> {
        let envelope = CommandEnvelope { caller: Caller::platform(), command };
        self.apply(at, Input::Command(Box::new(envelope)), strategies, floor)?.map_err(SimulationError::Refused)
    }

    pub(super) fn on_report(
        &mut self,
        at: Timestamp,
        report: Report,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<(), SimulationError> {
        // A report has no reply.
        self.apply(at, Input::Report(report), strategies, floor).map(drop)
    }

    /// Expired securities are settled at the newest prices.
    pub(super) fn on_clock(
        &mut self,
        at: Timestamp,
        tape: &mut LastPrices,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<(), SimulationError> {
        if self.engine.settles_at(at) {
            self.apply_marks(at, tape, strategies, floor)?;
        }
        self.apply(at, Input::Clock, strategies, floor).map(drop)
    }

    /// Whether any venue reported.
    pub(super) fn poll_venues(
        &mut self,
        at: Timestamp,
        tape: &mut LastPrices,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<bool, SimulationError> {
        let mut any = false;
        while let Some(report) = floor.next_report(at) {
            self.apply_marks(at, tape, strategies, floor)?;
            self.on_report(at, report, strategies, floor)?;
            any = true;
        }
        Ok(any)
    }

    /// Whether there were commands.
    pub(super) fn run_commands(
        &mut self,
        at: Timestamp,
        tape: &mut LastPrices,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<bool, SimulationError> {
        let mut commands = std::mem::take(&mut self.commands);
        strategies.drain_commands(&mut commands);
        let any = !commands.is_empty();
        if any {
            self.apply_marks(at, tape, strategies, floor)?;
        }
        for (runner, envelope) in commands.drain(..) {
            self.run_command(at, runner, envelope, strategies, floor)?;
        }
        self.commands = commands;
        Ok(any)
    }

    fn run_command(
        &mut self,
        at: Timestamp,
        runner: usize,
        envelope: Box<CommandEnvelope>,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<(), SimulationError> {
        let stamped = self.stamp(at, Input::Command(envelope));
        let outcome = self.engine.apply(&stamped, &mut self.out);
        self.route_output(at, strategies, floor)?;
        if let (Err(refusal), Input::Command(envelope)) = (outcome, stamped.payload) {
            self.observer.on_refusal(at, &strategies.name(runner), &envelope.command, &refusal);
            strategies.on_refusal(runner, at, envelope.command, &refusal);
        }
        Ok(())
    }

    /// The newest prices come first, so that the following inputs are checked against them.
    fn apply_marks(
        &mut self,
        at: Timestamp,
        tape: &mut LastPrices,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<(), SimulationError> {
        let marks = tape.changed_marks();
        if marks.is_empty() {
            return Ok(());
        }
        self.notify_marks(at, &marks)?;
        self.apply(at, Input::Marks(marks), strategies, floor).map(drop)
    }

    /// As [`Self::mark`], and also without new prices where something was traded: values are published then.
    pub(super) fn revalue(
        &mut self,
        at: Timestamp,
        tape: &mut LastPrices,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<(), SimulationError> {
        self.close_engine_bars(at, tape, strategies);
        let marks = tape.changed_marks();
        if marks.is_empty() && !self.traded {
            return Ok(());
        }
        self.notify_marks(at, &marks)?;
        self.apply(at, Input::Marks(marks), strategies, floor).map(drop)
    }

    /// Closes bars of the engine whose span is over, also without a new price.
    pub(super) fn close_engine_bars(&mut self, at: Timestamp, tape: &LastPrices, strategies: &mut StrategySet) {
        self.engine.advance_market(at, &mut self.out);
        self.deliver_market_events(at, tape, strategies);
    }

    /// A second after the last event, because values are published once a second.
    pub(super) fn revalue_at_end(
        &mut self,
        at: Timestamp,
        tape: &mut LastPrices,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<(), SimulationError> {
        self.traded = true;
        self.revalue(at, tape, strategies, floor)
    }

    pub(super) fn query(&self, at: Timestamp, query: &Query) -> EngineResult {
        self.engine.answer(at, self.sequence, query)
    }

    fn notify_marks(&mut self, at: Timestamp, marks: &[Mark]) -> Result<(), SimulationError> {
        self.observer.on_marks(self.observed_time.unwrap_or(at), marks).map_err(SimulationError::Observer)
    }

    pub(super) fn begin(&mut self, at: Timestamp) -> Result<(), SimulationError> {
        self.observer.on_begin(at, self.engine.reference()).map_err(SimulationError::Observer)
    }

    /// Delivers a price to the strategies. Where one wants bars that are not recorded, the engine's market half builds
    /// them.
    #[inline]
    pub(super) fn deliver_price(
        &mut self,
        at: Timestamp,
        recorded: &PriceRecord,
        tape: &mut LastPrices,
        strategies: &mut StrategySet,
    ) {
        let Some(place) = tape.index_of(recorded.security()) else { return };
        if tape.feeds_engine(place) {
            self.feed_engine(at, recorded, tape, strategies);
        }
        let is_told = tape.feeds_engine(place);
        self.sequence += 1;
        match recorded {
            PriceRecord::Tick(tick) => {
                let newest = tape.update(place, tick);
                if !is_told {
                    strategies.on_tick(at, newest);
                }
            }
            PriceRecord::Trade(trade) => {
                tape.mark_last(trade.security, trade.price, trade.at);
                self.deliver_unless(is_told, at, strategies, || Event::Trade(Arc::new(trade.clone())));
            }
            PriceRecord::Book(book) => {
                tape.mark_book(book);
                self.deliver_unless(is_told, at, strategies, || Event::Book(Arc::new(book.clone())));
            }
            PriceRecord::Bar(bar) => self.deliver_unless(is_told, at, strategies, || Event::Bar(Arc::new(bar.clone()))),
        }
    }

    fn deliver_unless(
        &mut self,
        is_told: bool,
        at: Timestamp,
        strategies: &mut StrategySet,
        event: impl FnOnce() -> Event,
    ) {
        if !is_told {
            strategies.on_event(&PublishedEvent { sequence: self.sequence, at, event: event() });
        }
    }

    pub(super) fn deliver_bar(&mut self, at: Timestamp, bar: Arc<Bar>, strategies: &mut StrategySet) {
        self.sequence += 1;
        strategies.on_event(&PublishedEvent { sequence: self.sequence, at, event: Event::Bar(bar) });
    }

    fn feed_engine(&mut self, at: Timestamp, recorded: &PriceRecord, tape: &LastPrices, strategies: &mut StrategySet) {
        let data = match recorded {
            PriceRecord::Tick(tick) => MarketData::Tick(tick.clone()),
            PriceRecord::Trade(trade) => MarketData::Trade(trade.clone()),
            PriceRecord::Book(book) => MarketData::Book(book.clone()),
            PriceRecord::Bar(bar) => return self.deliver_bar(at, Arc::new(bar.clone()), strategies),
        };
        let stamped = self.stamp(at, Input::Market(data));
        // A price has no reply: its output is events.
        let _ = self.engine.apply(&stamped, &mut self.out);
        self.deliver_market_events(at, tape, strategies);
    }

    /// Recorded bars are delivered from the data, not from the engine.
    fn deliver_market_events(&mut self, at: Timestamp, tape: &LastPrices, strategies: &mut StrategySet) {
        let sequence = self.sequence;
        for event in self.out.events.drain(..) {
            let is_told = if let Event::Bar(bar) = &event { tape.is_published(bar) } else { true };
            if is_told {
                strategies.on_event(&PublishedEvent { sequence, at, event });
            }
        }
    }

    fn apply(
        &mut self,
        at: Timestamp,
        what: Input,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<EngineResult, SimulationError> {
        let stamped = self.stamp(at, what);
        let reply = self.engine.apply(&stamped, &mut self.out);
        self.route_output(at, strategies, floor)?;
        Ok(reply)
    }

    fn stamp(&mut self, at: Timestamp, what: Input) -> Sequenced<Input> {
        self.sequence += 1;
        Sequenced { sequence: self.sequence, at, payload: what }
    }

    /// Events go to the observer and the strategies, instructions to the venues.
    fn route_output(
        &mut self,
        at: Timestamp,
        strategies: &mut StrategySet,
        floor: &mut ReplayVenues,
    ) -> Result<(), SimulationError> {
        for (adapter, instruction) in self.out.instructions.drain(..) {
            floor.send(at, &adapter, &instruction);
        }
        if self.out.events.is_empty() {
            return Ok(());
        }
        self.observer
            .on_events(self.observed_time.unwrap_or(at), &self.out.events)
            .map_err(SimulationError::Observer)?;
        for event in &self.out.events {
            match event {
                Event::OrderStatus(status) if status.exec_type == ExecType::PendingNew => self.orders += 1,
                Event::Fill(_) => (self.fills, self.traded) = (self.fills + 1, true),
                Event::Portfolio(_) => self.traded = false,
                _ => {}
            }
            self.digest.update(event);
        }
        strategies.on_events(at, &self.out.events);
        self.out.events.clear();
        Ok(())
    }

    pub(super) fn finish(self, events: u64, from: Timestamp, to: Timestamp) -> SimulationResult {
        let digest = self.digest.finish(&self.engine, to, self.sequence);
        SimulationResult { events, orders: self.orders, fills: self.fills, from, to, digest }
    }
}
