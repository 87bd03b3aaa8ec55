//! Engine driver: stamps and applies one input and distributes its output.

use std::sync::Arc;

use domain::command::{Failure, MarketData};
use domain::order::Step;
use domain::query::{Answer, Reply};
use domain::report::Report;
use domain::{Bar, Caller, Command, Envelope, Event, Input, Mark, Published, Query, Stamped, Text, Timestamp};
use engine::{Engine, Outbox};
use storage::history::Recorded;
use strategy::Seat;

use super::crew::Crew;
use super::floor::Floor;
use super::setup::SimulationError;
use super::tape::Tape;
use super::witness::Witness;
use super::{Digest, Ended};

pub(super) struct Desk<'a> {
    engine: Engine,
    out: Outbox,
    sequence: u64,
    witness: &'a mut dyn Witness,
    digest: Digest,
    orders: u64,
    fills: u64,
    /// Whether something was filled since values were published.
    traded: bool,
    /// The time that the observer gets instead of the real one.
    told: Option<Timestamp>,
    /// Empty in between; kept for its memory.
    commands: Vec<(usize, Box<Envelope>)>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(witness: &'a mut dyn Witness) -> Self {
        Self {
            engine: Engine::default(),
            out: Outbox::default(),
            sequence: 0,
            witness,
            digest: Digest::default(),
            orders: 0,
            fills: 0,
            traded: false,
            told: None,
            commands: Vec::new(),
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.engine.next_deadline()
    }

    pub(super) fn tell_progress(&mut self, events: u64, (read, total): (u64, u64)) {
        self.witness.progress(events, read, total);
    }

    /// From now on the observer gets this time instead of the real one; `None` ends that.
    pub(super) fn tell_as(&mut self, told: Option<Timestamp>) {
        self.told = told;
    }

    pub(super) fn tell_end_of_day(&mut self, at: Timestamp) -> Result<(), SimulationError> {
        self.witness.end_day(self.told.unwrap_or(at)).map_err(SimulationError::Witness)
    }

    pub(super) fn tell_wants(&mut self, seat: &Seat) {
        self.witness.want(&seat.who().name, seat.selection());
    }

    pub(super) fn tell_end_of_data(&mut self) {
        self.witness.end_data();
    }

    pub(super) fn tell_fall(&mut self, at: Timestamp, strategy: &Text, failure: &Failure) {
        self.witness.fall(self.told.unwrap_or(at), strategy, failure);
    }

    /// A command of the platform itself, which must be carried out.
    pub(super) fn command(
        &mut self,
        at: Timestamp,
        command: Command,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<Answer, SimulationError> {
        let envelope = Envelope { caller: Caller::platform(), command };
        self.apply(at, Input::Command(Box::new(envelope)), crew, floor)?.map_err(SimulationError::Refused)
    }

    pub(super) fn report(
        &mut self,
        at: Timestamp,
        report: Report,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<(), SimulationError> {
        // A report has no reply.
        self.apply(at, Input::Report(report), crew, floor).map(drop)
    }

    /// Expired securities are settled at the newest prices.
    pub(super) fn clock(
        &mut self,
        at: Timestamp,
        tape: &mut Tape,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<(), SimulationError> {
        if self.engine.settles_at(at) {
            self.mark(at, tape, crew, floor)?;
        }
        self.apply(at, Input::Clock, crew, floor).map(drop)
    }

    /// Whether any venue reported.
    pub(super) fn hear_venues(
        &mut self,
        at: Timestamp,
        tape: &mut Tape,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<bool, SimulationError> {
        let mut any = false;
        while let Some(report) = floor.heard(at) {
            self.mark(at, tape, crew, floor)?;
            self.report(at, report, crew, floor)?;
            any = true;
        }
        Ok(any)
    }

    /// Whether there were commands.
    pub(super) fn obey(
        &mut self,
        at: Timestamp,
        tape: &mut Tape,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<bool, SimulationError> {
        let mut commands = std::mem::take(&mut self.commands);
        crew.take_commands(&mut commands);
        let any = !commands.is_empty();
        if any {
            self.mark(at, tape, crew, floor)?;
        }
        for (seat, envelope) in commands.drain(..) {
            self.obey_one(at, seat, envelope, crew, floor)?;
        }
        self.commands = commands;
        Ok(any)
    }

    fn obey_one(
        &mut self,
        at: Timestamp,
        seat: usize,
        envelope: Box<Envelope>,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<(), SimulationError> {
        let stamped = self.stamp(at, Input::Command(envelope));
        let outcome = self.engine.apply(&stamped, &mut self.out);
        self.spread(at, crew, floor)?;
        if let (Err(refusal), Input::Command(envelope)) = (outcome, stamped.what) {
            self.witness.refuse(at, &crew.name(seat), &envelope.command, &refusal);
            crew.refuse(seat, at, envelope.command, &refusal);
        }
        Ok(())
    }

    /// The newest prices come first, so that the following inputs are checked against them.
    fn mark(
        &mut self,
        at: Timestamp,
        tape: &mut Tape,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<(), SimulationError> {
        let marks = tape.changed_marks();
        if marks.is_empty() {
            return Ok(());
        }
        self.show_marks(at, &marks)?;
        self.apply(at, Input::Marks(marks), crew, floor).map(drop)
    }

    /// As [`Self::mark`], and also without new prices where something was traded: values are published then.
    pub(super) fn value(
        &mut self,
        at: Timestamp,
        tape: &mut Tape,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<(), SimulationError> {
        self.close_made_bars(at, tape, crew);
        let marks = tape.changed_marks();
        if marks.is_empty() && !self.traded {
            return Ok(());
        }
        self.show_marks(at, &marks)?;
        self.apply(at, Input::Marks(marks), crew, floor).map(drop)
    }

    /// Closes bars of the engine whose span is over, also without a new price.
    pub(super) fn close_made_bars(&mut self, at: Timestamp, tape: &Tape, crew: &mut Crew) {
        self.engine.advance_market(at, &mut self.out);
        self.spread_market(at, tape, crew);
    }

    /// A second after the last event, because values are published once a second.
    pub(super) fn value_at_end(
        &mut self,
        at: Timestamp,
        tape: &mut Tape,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<(), SimulationError> {
        self.traded = true;
        self.value(at, tape, crew, floor)
    }

    pub(super) fn ask(&self, at: Timestamp, query: &Query) -> Reply {
        self.engine.answer(at, self.sequence, query)
    }

    fn show_marks(&mut self, at: Timestamp, marks: &[Mark]) -> Result<(), SimulationError> {
        self.witness.mark(self.told.unwrap_or(at), marks).map_err(SimulationError::Witness)
    }

    pub(super) fn begin(&mut self, at: Timestamp) -> Result<(), SimulationError> {
        self.witness.begin(at, self.engine.reference()).map_err(SimulationError::Witness)
    }

    /// Delivers a price to the strategies. Where one wants bars that are not recorded, the engine's market half builds
    /// them.
    #[inline]
    pub(super) fn tell_price(&mut self, at: Timestamp, recorded: &Recorded, tape: &mut Tape, crew: &mut Crew) {
        let Some(place) = tape.place(recorded.security()) else { return };
        if tape.feeds_engine(place) {
            self.feed_engine(at, recorded, tape, crew);
        }
        let is_told = tape.feeds_engine(place);
        self.sequence += 1;
        match recorded {
            Recorded::Tick(tick) => {
                let newest = tape.take(place, tick);
                if !is_told {
                    crew.hear_tick(at, newest);
                }
            }
            Recorded::Trade(trade) => {
                tape.mark_last(trade.security, trade.price, trade.at);
                self.tell_unless(is_told, at, crew, || Event::Trade(Arc::new(trade.clone())));
            }
            Recorded::Book(book) => {
                tape.mark_book(book);
                self.tell_unless(is_told, at, crew, || Event::Book(Arc::new(book.clone())));
            }
            Recorded::Bar(bar) => self.tell_unless(is_told, at, crew, || Event::Bar(Arc::new(bar.clone()))),
        }
    }

    fn tell_unless(&mut self, is_told: bool, at: Timestamp, crew: &mut Crew, event: impl FnOnce() -> Event) {
        if !is_told {
            crew.hear(&Published { sequence: self.sequence, at, event: event() });
        }
    }

    pub(super) fn tell_bar(&mut self, at: Timestamp, bar: Arc<Bar>, crew: &mut Crew) {
        self.sequence += 1;
        crew.hear(&Published { sequence: self.sequence, at, event: Event::Bar(bar) });
    }

    fn feed_engine(&mut self, at: Timestamp, recorded: &Recorded, tape: &Tape, crew: &mut Crew) {
        let data = match recorded {
            Recorded::Tick(tick) => MarketData::Tick(tick.clone()),
            Recorded::Trade(trade) => MarketData::Trade(trade.clone()),
            Recorded::Book(book) => MarketData::Book(book.clone()),
            Recorded::Bar(bar) => return self.tell_bar(at, Arc::new(bar.clone()), crew),
        };
        let stamped = self.stamp(at, Input::Market(data));
        // A price has no reply: its output is events.
        let _ = self.engine.apply(&stamped, &mut self.out);
        self.spread_market(at, tape, crew);
    }

    /// Recorded bars are delivered from the data, not from the engine.
    fn spread_market(&mut self, at: Timestamp, tape: &Tape, crew: &mut Crew) {
        let sequence = self.sequence;
        for event in self.out.events.drain(..) {
            let is_told = if let Event::Bar(bar) = &event { tape.tells(bar) } else { true };
            if is_told {
                crew.hear(&Published { sequence, at, event });
            }
        }
    }

    fn apply(
        &mut self,
        at: Timestamp,
        what: Input,
        crew: &mut Crew,
        floor: &mut Floor,
    ) -> Result<Reply, SimulationError> {
        let stamped = self.stamp(at, what);
        let reply = self.engine.apply(&stamped, &mut self.out);
        self.spread(at, crew, floor)?;
        Ok(reply)
    }

    fn stamp(&mut self, at: Timestamp, what: Input) -> Stamped<Input> {
        self.sequence += 1;
        Stamped { sequence: self.sequence, at, what }
    }

    /// Events go to the observer and the strategies, instructions to the venues.
    fn spread(&mut self, at: Timestamp, crew: &mut Crew, floor: &mut Floor) -> Result<(), SimulationError> {
        for (adapter, instruction) in self.out.instructions.drain(..) {
            floor.instruct(at, &adapter, &instruction);
        }
        if self.out.events.is_empty() {
            return Ok(());
        }
        self.witness.see(self.told.unwrap_or(at), &self.out.events).map_err(SimulationError::Witness)?;
        for event in &self.out.events {
            match event {
                Event::OrderStatus(status) if status.step == Step::Placed => self.orders += 1,
                Event::Fill(_) => (self.fills, self.traded) = (self.fills + 1, true),
                Event::Portfolio(_) => self.traded = false,
                _ => {}
            }
            self.digest.see(event);
        }
        crew.hear_all(at, &self.out.events);
        self.out.events.clear();
        Ok(())
    }

    pub(super) fn ended(self, events: u64, from: Timestamp, to: Timestamp) -> Ended {
        let digest = self.digest.finish(&self.engine, to, self.sequence);
        Ended { events, orders: self.orders, fills: self.fills, from, to, digest }
    }
}
