//! Strategy set of a simulation: delivers events and collects commands.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use domain::command::{Failure, Phase};
use domain::{
    BarSize, Caller, Command, Envelope, Event, Published, Refusal, SecurityId, Source, StrategyId, Text, Tick,
    Timestamp,
};
use strategy::{Past, Prices, Seat};

use super::pulse::Pulse;
use crate::strategies::failing::{self, Haste};

/// Rounds of commands and replies at one instant; a strategy that needs more is stopped as livelocked.
pub(super) const ROUNDS_MAX: u32 = 10_000;

#[derive(Default)]
pub(super) struct Crew {
    seats: Vec<Seat>,
    /// By index: whether the strategy failed. It gets no more events; the others continue.
    fallen: Vec<bool>,
    /// Failures that are not handled yet.
    falling: Vec<(usize, Failure)>,
    /// By index.
    haste: Vec<Haste>,
    pulse: Arc<Pulse>,
}

impl Crew {
    pub(super) fn new(seats: Vec<Seat>, pulse: Arc<Pulse>) -> Self {
        let (fallen, haste) = (vec![false; seats.len()], vec![Haste::default(); seats.len()]);
        let seats = seats.into_iter().map(Seat::on_recorded_prices).collect();
        Self { seats, fallen, falling: Vec::new(), haste, pulse }
    }

    #[inline]
    pub(super) fn hear(&mut self, published: &Published) {
        for place in 0..self.seats.len() {
            self.call(place, |seat| seat.hear(published));
        }
    }

    #[inline]
    pub(super) fn hear_tick(&mut self, at: Timestamp, tick: &Tick) {
        for place in 0..self.seats.len() {
            self.call(place, |seat| seat.hear_tick(at, tick));
        }
    }

    /// All events of one input.
    pub(super) fn hear_all(&mut self, at: Timestamp, events: &[Event]) {
        for place in 0..self.seats.len() {
            self.call(place, |seat| events.iter().for_each(|event| seat.hear_event(at, event)));
        }
    }

    pub(super) fn enter(&mut self, place: usize, phase: Phase, now: Timestamp, past: &Past) {
        self.call(place, |seat| seat.enter(phase, now, past));
    }

    pub(super) fn end(&mut self, now: Timestamp) {
        (0..self.seats.len()).for_each(|place| self.call(place, |seat| seat.end_of_simulation(now)));
    }

    pub(super) fn advance(&mut self, now: Timestamp) {
        (0..self.seats.len()).for_each(|place| self.call(place, |seat| seat.advance(now)));
    }

    pub(super) fn refuse(&mut self, place: usize, now: Timestamp, command: Command, refusal: &Refusal) {
        if failing::is_too_fast(refusal, self.seats[place].who().id) && self.haste[place].is_flood(now) {
            self.fell(place, failing::floods(failing::BEYOND_ITS_RATE));
        }
        self.call(place, |seat| seat.refuse(now, command, refusal));
    }

    /// A strategy that panics fails alone.
    #[inline]
    fn call(&mut self, place: usize, what: impl FnOnce(&mut Seat)) {
        if self.fallen[place] {
            return;
        }
        self.pulse.call(place);
        let seat = &mut self.seats[place];
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| what(seat))) {
            self.fell(place, failing::panicked(&failing::message_of(&*panic)));
        }
        self.pulse.call_nobody();
    }

    fn fell(&mut self, place: usize, failure: Failure) {
        if !std::mem::replace(&mut self.fallen[place], true) {
            self.falling.push((place, failure));
        }
    }

    /// Strategies that failed since the last call, and how.
    pub(super) fn take_falling(&mut self) -> Vec<(StrategyId, Text, Failure)> {
        if self.falling.is_empty() {
            return Vec::new();
        }
        let who = |(place, failure): (usize, Failure)| {
            let who = self.seats[place].who();
            (who.id, who.name.clone(), failure)
        };
        std::mem::take(&mut self.falling).into_iter().map(who).collect()
    }

    /// After too many rounds at one instant: strategies that still send commands are livelocked.
    pub(super) fn fell_insatiable(&mut self) {
        let asking: Vec<usize> = (0..self.seats.len()).filter(|place| self.seats[*place].has_commands()).collect();
        asking.into_iter().for_each(|place| self.fell(place, failing::floods(failing::NEVER_CONTENT)));
    }

    pub(super) fn next_timer(&self) -> Option<Timestamp> {
        self.standing().filter_map(Seat::next_timer).min()
    }

    /// Whether there are commands or failures to handle.
    #[inline]
    pub(super) fn has_commands(&self) -> bool {
        !self.falling.is_empty() || self.standing().any(|seat| seat.has_commands() || seat.wants_new_bars())
    }

    /// Whether any strategy wants bars of a new size.
    pub(super) fn take_new_bars(&mut self) -> bool {
        // Every runner is read, so that none reports the same twice.
        self.seats.iter_mut().filter_map(|seat| seat.take_new_bars().then_some(())).count() > 0
    }

    /// Commands of all strategies, in the order of their runners. None of a flooding strategy is carried out.
    pub(super) fn take_commands(&mut self, commands: &mut Vec<(usize, Box<Envelope>)>) {
        for place in 0..self.seats.len() {
            if !self.seats[place].has_commands() {
                continue;
            }
            if self.seats[place].is_flooding() {
                self.fell(place, failing::floods(failing::TOO_MUCH_IN_A_CALL));
            }
            let seat = &mut self.seats[place];
            let caller = Caller { source: Source::Strategy, user: Some(seat.who().name.clone()), origin: None };
            let asked = seat.commands();
            if self.fallen[place] {
                drop(asked);
            } else {
                let signed = |command| (place, Box::new(Envelope { caller: caller.clone(), command }));
                commands.extend(asked.map(signed));
            }
        }
    }

    #[inline]
    fn standing(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().zip(&self.fallen).filter(|(_, fallen)| !**fallen).map(|(seat, _)| seat)
    }

    pub(super) fn name(&self, seat: usize) -> Text {
        self.seats[seat].who().name.clone()
    }

    /// Indexes and ids of strategies that did not fail.
    pub(super) fn standing_ids(&self) -> Vec<(usize, StrategyId)> {
        let ids = self.seats.iter().map(|seat| seat.who().id).enumerate();
        ids.filter(|(place, _)| !self.fallen[*place]).collect()
    }

    pub(super) fn wants(&self, security: SecurityId) -> bool {
        self.seats.iter().any(|seat| seat.selection().has(security))
    }

    pub(super) fn wants_bars(&self, security: SecurityId, size: BarSize) -> bool {
        let wishes = |seat: &Seat| seat.wishes().iter().any(|wish| wish.security == security && wish.size == size);
        self.seats.iter().any(|seat| seat.selection().wants(security, Prices::Bars(size)) || wishes(seat))
    }

    pub(super) fn seats(&self) -> &[Seat] {
        &self.seats
    }
}
