//! Simulation: the live engine and strategies on virtual time over recorded prices.
//!
//! One thread, no clock, no randomness. Events due at the same instant run in a fixed order, so every run gives the
//! same digest.
//!
//! Order at one instant: bars close; requests reach venues; reports arrive; timers fire; engine deadlines pass; delayed
//! prices arrive; positions are valued at the close of bars and at the end of a day; then the next row goes to the
//! venue and to the strategies. Commands of a strategy run before anything else.

mod setup;
mod witness;
mod digest;
mod tape;
mod floor;
mod crew;
mod ahead;
mod larger;
mod desk;
mod pulse;
mod phases;
mod warm_up;
mod again;
mod from_journal;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use domain::{Bar, SecurityId, Timestamp};
use storage::history::{Recorded, Source};

use ahead::Ahead;
use crew::{Crew, ROUNDS_MAX};
pub use digest::Digest;
use floor::Floor;
pub use from_journal::{Differs, FromJournal, Replayed, SeatMaker, replay_journal};
use larger::Larger;
pub use pulse::Pulse;
pub use setup::{OpeningCash, Setup, SimulationError, VenueSetup};
use tape::Tape;
pub use witness::{Seen, Witness};

use crate::strategies::OnFailure;
use desk::Desk;

const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// An instant that never comes.
const NEVER: Timestamp = Timestamp(i64::MAX);

/// Progress is reported after this many rows.
const ROWS_PER_TELLING: u64 = 65_536;

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Rows of the data that were played.
    pub events: u64,
    pub orders: u64,
    pub fills: u64,
    pub from: Timestamp,
    pub to: Timestamp,
    /// Over orders, fills, positions and cash.
    pub digest: String,
}

pub struct Simulation<'a> {
    desk: Desk<'a>,
    tape: Tape,
    floor: Floor,
    crew: Crew,
    ahead: Ahead,
    larger: Larger,
    source: Box<dyn Source + 'a>,
    /// A row that belongs to the time after the warm-up.
    held: Option<Recorded>,
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
    pulse: Arc<Pulse>,
    /// Nothing but data happens before.
    due: Timestamp,
    events: u64,
}

impl<'a> Simulation<'a> {
    pub fn new(
        setup: Setup,
        source: Box<dyn Source + 'a>,
        witness: &'a mut dyn Witness,
    ) -> Result<Self, SimulationError> {
        setup::build(setup, source, witness)
    }

    pub fn run(mut self) -> Result<Ended, SimulationError> {
        let from = self.begin()?;
        let mut row = None;
        self.read_row(&mut row)?;
        while let Some(recorded) = &row {
            self.play(recorded)?;
            self.read_row(&mut row)?;
        }
        let to = self.end()?;
        Ok(self.desk.ended(self.events, from, to))
    }

    fn next_row(&mut self) -> Result<Option<Recorded>, SimulationError> {
        let mut row = None;
        self.read_row(&mut row)?;
        Ok(row)
    }

    #[inline]
    fn read_row(&mut self, row: &mut Option<Recorded>) -> Result<(), SimulationError> {
        if self.held.is_some() {
            *row = self.held.take();
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
    fn play(&mut self, recorded: &Recorded) -> Result<(), SimulationError> {
        let at = recorded.at();
        if at >= self.due {
            self.run_until(at)?;
            self.begin_day_of(at);
        }
        self.now = at;
        self.pulse.come_to(at);
        self.events += 1;
        if self.events.is_multiple_of(ROWS_PER_TELLING) {
            self.desk.tell_progress(self.events, self.source.progress());
        }
        self.show(recorded)?;
        // A bar is valued by its close and not by its open.
        if self.now >= self.next_valuation && !matches!(recorded, Recorded::Bar(_)) {
            self.value()?;
        }
        Ok(())
    }

    /// Everything that is due by then, each at its own instant.
    fn run_until(&mut self, to: Timestamp) -> Result<(), SimulationError> {
        while self.due <= to {
            self.now = self.now.max(self.due);
            self.pulse.come_to(self.now);
            self.desk.tell_as(Some(self.counts_as()));
            self.do_due()?;
            self.find_due();
            if self.has_closed && self.due > self.now {
                self.value_closes()?;
            }
        }
        self.desk.tell_as(None);
        Ok(())
    }

    /// The instant that whatever happens now counts for: what bars come to at a midnight belongs to the day that ends, what a
    /// price brings then to the day that begins.
    fn counts_as(&self) -> Timestamp {
        if self.closed_at == self.now { counted(self.now) } else { self.now }
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
        self.due = self.due.min(self.day_ends);
    }

    fn do_due(&mut self) -> Result<(), SimulationError> {
        if let Some(bar) = self.ahead.take_closing(self.now) {
            return self.close_bar(bar);
        }
        if let Some(bar) = self.larger.take_closed(self.now) {
            self.note_close();
            self.desk.tell_bar(self.now, bar, &mut self.crew);
            return self.answer_crew();
        }
        if self.floor.next_due().is_some_and(|due| due <= self.now) {
            return self.settle();
        }
        if self.crew.next_timer().is_some_and(|due| due <= self.now) {
            self.crew.advance(self.now);
            return self.settle();
        }
        if self.desk.next_deadline().is_some_and(|due| due <= self.now) {
            self.desk.clock(self.now, &mut self.tape, &mut self.crew, &mut self.floor)?;
            return self.settle();
        }
        match self.ahead.take_delayed(self.now) {
            Some(recorded) => self.tell(&recorded),
            None if self.day_ends <= self.now => self.end_day(),
            None => Ok(()),
        }
    }

    fn find_due(&mut self) {
        let dues = [
            self.ahead.next_due(),
            self.larger.next_due(),
            self.floor.next_due(),
            self.crew.next_timer(),
            self.desk.next_deadline(),
        ];
        self.due = dues.into_iter().flatten().min().unwrap_or(NEVER).min(self.day_ends);
    }

    /// The day's last value, whether it moved or not.
    fn end_day(&mut self) -> Result<(), SimulationError> {
        self.day_ends = NEVER;
        self.has_closed = false;
        self.desk.tell_as(Some(counted(self.now)));
        self.value()?;
        self.desk.tell_end_of_day(self.now)
    }

    fn value_closes(&mut self) -> Result<(), SimulationError> {
        self.has_closed = false;
        if self.now >= self.next_valuation { self.value() } else { Ok(()) }
    }

    /// The venue gets it first: waiting orders may be filled before any strategy gets the price.
    #[inline]
    fn show(&mut self, recorded: &Recorded) -> Result<(), SimulationError> {
        self.floor.show(self.now, recorded);
        if self.floor.is_busy() {
            self.settle()?;
        }
        match recorded {
            Recorded::Bar(bar) => {
                self.tape.mark_last(bar.security, bar.open, self.now);
                self.ahead.close_later(Arc::new(bar.clone()));
            }
            recorded if self.feed_latency_nanos > 0 => {
                let arrives = Timestamp(self.now.0.saturating_add(self.feed_latency_nanos));
                self.ahead.delay(arrives, recorded.clone())?;
            }
            recorded => return self.tell(recorded),
        }
        if let Some(due) = self.ahead.next_due() {
            self.due = self.due.min(due);
        }
        Ok(())
    }

    fn close_bar(&mut self, bar: Arc<Bar>) -> Result<(), SimulationError> {
        self.has_closed = true;
        self.note_close();
        self.floor.close_bar(self.now, &bar);
        self.tape.mark_last(bar.security, bar.close, self.now);
        if self.floor.is_busy() {
            self.settle()?;
        }
        self.larger.add(&bar);
        self.desk.tell_bar(self.now, bar, &mut self.crew);
        self.answer_crew()
    }

    fn note_close(&mut self) {
        self.closed_at = self.now;
        self.desk.tell_as(Some(self.counts_as()));
    }

    /// The strategies see it.
    #[inline]
    fn tell(&mut self, recorded: &Recorded) -> Result<(), SimulationError> {
        self.desk.tell_price(self.now, recorded, &mut self.tape, &mut self.crew);
        self.answer_crew()
    }

    /// Carries out the commands of the strategies; a timer that one has set may be the next that is due.
    #[inline]
    fn answer_crew(&mut self) -> Result<(), SimulationError> {
        if self.crew.has_commands() {
            return self.settle();
        }
        if let Some(timer) = self.crew.next_timer() {
            self.due = self.due.min(timer);
        }
        Ok(())
    }

    /// Carries out commands and delivers venue reports until nothing is left at this instant.
    fn settle(&mut self) -> Result<(), SimulationError> {
        let mut rounds = 0;
        loop {
            self.floor.advance(self.now);
            let heard = self.desk.hear_venues(self.now, &mut self.tape, &mut self.crew, &mut self.floor)?;
            let obeyed = self.desk.obey(self.now, &mut self.tape, &mut self.crew, &mut self.floor)?;
            let fell = self.look_after_fallen()?;
            if self.crew.take_new_bars() {
                self.choose_bar_makers();
            }
            let is_over = !self.crew.has_commands() && !self.floor.is_busy();
            if is_over || !heard && !obeyed && !fell {
                break;
            }
            rounds += 1;
            if rounds == ROUNDS_MAX {
                rounds = 0;
                self.crew.fell_insatiable();
            }
        }
        self.find_due();
        Ok(())
    }

    /// The newest prices reach trading: positions are valued, loss limits looked at.
    fn value(&mut self) -> Result<(), SimulationError> {
        self.next_valuation = Timestamp(self.now.0.saturating_add(self.valuation_nanos));
        self.desk.value(self.now, &mut self.tape, &mut self.crew, &mut self.floor)?;
        if self.crew.has_commands() || self.floor.is_busy() {
            self.settle()?;
        }
        Ok(())
    }

    /// Selects the source of bars that are not recorded: shorter recorded bars where there are any, else the engine's
    /// bars from ticks and trades. The first bar of a size that is subscribed while prices flow is the first complete one.
    fn choose_bar_makers(&mut self) {
        let since = if self.events == 0 { Timestamp(i64::MIN) } else { self.now };
        let crew = &self.crew;
        for (security, wanted, of) in self.tape.make_of_bars(|security, size| crew.wants_bars(security, size)) {
            self.larger.make(security, wanted, of, since);
        }
        self.tape.feed_engine(since, |security: SecurityId, size| crew.wants_bars(security, size));
    }
}

/// A bar that ends at midnight belongs to the day before.
fn counted(at: Timestamp) -> Timestamp {
    if at.0.rem_euclid(NANOS_PER_DAY) == 0 { Timestamp(at.0.saturating_sub(1)) } else { at }
}
