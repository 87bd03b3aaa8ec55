//! Simulation: the live engine and strategies on virtual time over recorded prices.
//!
//! One thread, no clock, no randomness. Events due at the same instant run in a fixed order, so every run gives the
//! same digest.
//!
//! Order at one instant: bars close; requests reach venues; reports arrive; timers fire; engine deadlines pass; delayed
//! prices arrive; positions are valued at the close of bars and at the end of a day; then the next row goes to the
//! venue and to the strategies. Commands of a strategy run before anything else.

mod run_input;
mod setup;
mod observer;
mod digest;
mod last_prices;
mod venues;
mod strategy_set;
mod pending_inputs;
mod bar_aggregator;
mod engine_driver;
mod phases;
mod warm_up;
mod journal_replay;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use domain::{Bar, SecurityId, Timestamp};
use storage::price_files::{PriceRecord, PriceSource};

use bar_aggregator::BarAggregator;
pub use digest::RunDigest;
pub use journal_replay::{CommandDifference, JournalReplay, JournalReplayResult, RunnerFactory, replay_journal};
use last_prices::LastPrices;
pub use observer::{Observer, ObserverResult};
use pending_inputs::PendingInputs;
use run_input::NEVER;
pub use run_input::{OpeningCash, RunProgress, SimulationError, SimulationResult, SimulationSetup, VenueSetup};
use strategy_set::{ROUNDS_MAX, StrategySet};
use venues::ReplayVenues;

use crate::strategies::OnFailure;
use engine_driver::EngineDriver;

const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// Progress is reported after this many rows.
const PROGRESS_INTERVAL_ROWS: u64 = 65_536;

pub struct Simulation<'a> {
    driver: EngineDriver<'a>,
    last_prices: LastPrices,
    venues: ReplayVenues,
    strategies: StrategySet,
    pending: PendingInputs,
    aggregator: BarAggregator,
    source: Box<dyn PriceSource + 'a>,
    /// A row that belongs to the time after the warm-up.
    lookahead_row: Option<PriceRecord>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    feed_latency_nanos: i64,
    valuation_nanos: i64,
    on_failure: OnFailure,
    opening_cash: Vec<OpeningCash>,
    next_valuation: Timestamp,
    /// The midnight that ends the day of the newest row; far away once that day is over.
    day_ends: Timestamp,
    /// Whether a bar has closed at this instant and its close was not valued.
    has_closed: bool,
    /// When a bar last closed.
    closed_at: Timestamp,
    now: Timestamp,
    progress: Arc<RunProgress>,
    /// Nothing but data happens before.
    next_due: Timestamp,
    events: u64,
}

impl<'a> Simulation<'a> {
    pub fn run(mut self) -> Result<SimulationResult, SimulationError> {
        let from = self.start()?;
        let mut row = None;
        self.read_row(&mut row)?;
        while let Some(recorded) = &row {
            self.process_row(recorded)?;
            self.read_row(&mut row)?;
        }
        let to = self.finish()?;
        Ok(self.driver.finish(self.events, from, to))
    }

    fn next_row(&mut self) -> Result<Option<PriceRecord>, SimulationError> {
        let mut row = None;
        self.read_row(&mut row)?;
        Ok(row)
    }

    #[inline]
    fn read_row(&mut self, row: &mut Option<PriceRecord>) -> Result<(), SimulationError> {
        if self.lookahead_row.is_some() {
            *row = self.lookahead_row.take();
        } else {
            self.source.read(row)?;
        }
        if let (Some(late), Some(until)) = (&*row, self.until)
            && late.at() >= until
        {
            *row = None;
        }
        Ok(())
    }

    /// One row of the data, after everything that was due before it.
    #[inline]
    fn process_row(&mut self, recorded: &PriceRecord) -> Result<(), SimulationError> {
        let at = recorded.at();
        if at >= self.next_due {
            self.run_until(at)?;
            self.begin_day_of(at);
        }
        self.now = at;
        self.progress.set_time(at);
        self.events += 1;
        if self.events.is_multiple_of(PROGRESS_INTERVAL_ROWS) {
            self.driver.notify_progress(self.events, self.source.progress());
        }
        self.on_price(recorded)?;
        // A bar is valued by its close and not by its open.
        if self.now >= self.next_valuation && !matches!(recorded, PriceRecord::Bar(_)) {
            self.revalue()?;
        }
        Ok(())
    }

    /// Everything that is due by then, each at its own instant.
    fn run_until(&mut self, to: Timestamp) -> Result<(), SimulationError> {
        while self.next_due <= to {
            self.now = self.now.max(self.next_due);
            self.progress.set_time(self.now);
            self.driver.set_observed_time(Some(self.effective_time()));
            self.run_due()?;
            self.update_next_due();
            if self.has_closed && self.next_due > self.now {
                self.value_closes()?;
            }
        }
        self.driver.set_observed_time(None);
        Ok(())
    }

    /// The instant that whatever happens now counts for: what bars come to at a midnight belongs to the day that ends, what a
    /// price brings then to the day that begins.
    fn effective_time(&self) -> Timestamp {
        if self.closed_at == self.now { day_of_close(self.now) } else { self.now }
    }

    fn begin_day_of(&mut self, at: Timestamp) {
        if self.day_ends == NEVER {
            self.begin_day(at);
        }
    }

    /// Only days with data count: a weekend has no valuation.
    fn begin_day(&mut self, at: Timestamp) {
        let midnight = at.0.div_euclid(NANOS_PER_DAY).saturating_add(1).saturating_mul(NANOS_PER_DAY);
        self.day_ends = Timestamp(midnight);
        self.next_due = self.next_due.min(self.day_ends);
    }

    fn run_due(&mut self) -> Result<(), SimulationError> {
        if let Some(bar) = self.pending.pop_closing(self.now) {
            return self.close_bar(bar);
        }
        if let Some(bar) = self.aggregator.pop_closed(self.now) {
            self.record_close();
            self.driver.deliver_bar(self.now, bar, &mut self.strategies);
            return self.run_strategy_commands();
        }
        if self.venues.next_due().is_some_and(|due| due <= self.now) {
            return self.run_until_quiet();
        }
        if self.strategies.next_timer().is_some_and(|due| due <= self.now) {
            self.strategies.advance(self.now);
            return self.run_until_quiet();
        }
        if self.driver.next_deadline().is_some_and(|due| due <= self.now) {
            self.driver.on_clock(self.now, &mut self.last_prices, &mut self.strategies, &mut self.venues)?;
            return self.run_until_quiet();
        }
        match self.pending.pop_delayed(self.now) {
            Some(recorded) => self.deliver(&recorded),
            None if self.day_ends <= self.now => self.end_day(),
            None => Ok(()),
        }
    }

    fn update_next_due(&mut self) {
        let dues = [
            self.pending.next_due(),
            self.aggregator.next_due(),
            self.venues.next_due(),
            self.strategies.next_timer(),
            self.driver.next_deadline(),
        ];
        self.next_due = dues.into_iter().flatten().min().unwrap_or(NEVER).min(self.day_ends);
    }

    /// The day's last value, whether it moved or not.
    fn end_day(&mut self) -> Result<(), SimulationError> {
        self.day_ends = NEVER;
        self.has_closed = false;
        self.driver.set_observed_time(Some(day_of_close(self.now)));
        self.revalue()?;
        self.driver.notify_end_of_day(self.now)
    }

    fn value_closes(&mut self) -> Result<(), SimulationError> {
        self.has_closed = false;
        if self.now >= self.next_valuation { self.revalue() } else { Ok(()) }
    }

    /// The venue gets it first: waiting orders may be filled before any strategy gets the price.
    #[inline]
    fn on_price(&mut self, recorded: &PriceRecord) -> Result<(), SimulationError> {
        self.venues.on_price(self.now, recorded);
        if self.venues.has_work() {
            self.run_until_quiet()?;
        }
        match recorded {
            PriceRecord::Bar(bar) => {
                self.last_prices.mark_last(bar.security, bar.open, self.now);
                self.pending.schedule_close(Arc::new(bar.clone()));
            }
            recorded if self.feed_latency_nanos > 0 => {
                let arrives = Timestamp(self.now.0.saturating_add(self.feed_latency_nanos));
                self.pending.delay(arrives, recorded.clone())?;
            }
            recorded => return self.deliver(recorded),
        }
        if let Some(due) = self.pending.next_due() {
            self.next_due = self.next_due.min(due);
        }
        Ok(())
    }

    fn close_bar(&mut self, bar: Arc<Bar>) -> Result<(), SimulationError> {
        self.has_closed = true;
        self.record_close();
        self.venues.close_bar(self.now, &bar);
        self.last_prices.mark_last(bar.security, bar.close, self.now);
        if self.venues.has_work() {
            self.run_until_quiet()?;
        }
        self.aggregator.add(&bar);
        self.driver.deliver_bar(self.now, bar, &mut self.strategies);
        self.run_strategy_commands()
    }

    fn record_close(&mut self) {
        self.closed_at = self.now;
        self.driver.set_observed_time(Some(self.effective_time()));
    }

    /// The strategies see it.
    #[inline]
    fn deliver(&mut self, recorded: &PriceRecord) -> Result<(), SimulationError> {
        self.driver.deliver_price(self.now, recorded, &mut self.last_prices, &mut self.strategies);
        self.run_strategy_commands()
    }

    /// Carries out the commands of the strategies; a timer that one has set may be the next that is due.
    #[inline]
    fn run_strategy_commands(&mut self) -> Result<(), SimulationError> {
        if self.strategies.has_commands() {
            return self.run_until_quiet();
        }
        if let Some(timer) = self.strategies.next_timer() {
            self.next_due = self.next_due.min(timer);
        }
        Ok(())
    }

    /// Carries out commands and delivers venue reports until nothing is left at this instant.
    fn run_until_quiet(&mut self) -> Result<(), SimulationError> {
        let mut rounds = 0;
        loop {
            self.venues.advance(self.now);
            let heard =
                self.driver.poll_venues(self.now, &mut self.last_prices, &mut self.strategies, &mut self.venues)?;
            let obeyed =
                self.driver.run_commands(self.now, &mut self.last_prices, &mut self.strategies, &mut self.venues)?;
            let fell = self.stop_failed()?;
            if self.strategies.take_new_bar_sizes() {
                self.select_bar_sources();
            }
            let is_over = !self.strategies.has_commands() && !self.venues.has_work();
            if is_over || !heard && !obeyed && !fell {
                break;
            }
            rounds += 1;
            if rounds == ROUNDS_MAX {
                rounds = 0;
                self.strategies.fail_livelocked();
            }
        }
        self.update_next_due();
        Ok(())
    }

    /// The newest prices reach trading: positions are valued, loss limits looked at.
    fn revalue(&mut self) -> Result<(), SimulationError> {
        self.next_valuation = Timestamp(self.now.0.saturating_add(self.valuation_nanos));
        self.driver.revalue(self.now, &mut self.last_prices, &mut self.strategies, &mut self.venues)?;
        if self.strategies.has_commands() || self.venues.has_work() {
            self.run_until_quiet()?;
        }
        Ok(())
    }

    /// Selects the source of bars that are not recorded: shorter recorded bars where there are any, else the engine's
    /// bars from ticks and trades. The first bar of a size that is subscribed while prices flow is the first complete one.
    fn select_bar_sources(&mut self) {
        let since = if self.events == 0 { Timestamp(i64::MIN) } else { self.now };
        let strategies = &self.strategies;
        for (security, wanted, of) in
            self.last_prices.plan_aggregation(|security, size| strategies.is_subscribed_to_bars(security, size))
        {
            self.aggregator.aggregate(security, wanted, of, since);
        }
        self.last_prices
            .feed_engine(since, |security: SecurityId, size| strategies.is_subscribed_to_bars(security, size));
    }
}

/// A bar that ends at midnight belongs to the day before.
fn day_of_close(at: Timestamp) -> Timestamp {
    if at.0.rem_euclid(NANOS_PER_DAY) == 0 { Timestamp(at.0.saturating_sub(1)) } else { at }
}
