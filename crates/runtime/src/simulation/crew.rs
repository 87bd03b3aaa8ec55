//! The strategies and what they ask for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use domain::command::Phase;
use domain::{BarSize, Caller, Command, Envelope, Published, Refusal, SecurityId, Source, StrategyId, Text, Timestamp};
use strategy::{Past, Prices, Seat};

use super::setup::SimulationError;

/// Rounds of asking and answering at one instant; a strategy that needs more will never be content.
const ROUNDS_MAX: u32 = 10_000;

#[derive(Default)]
pub(super) struct Crew {
    seats: Vec<Seat>,
    /// By place: whether the strategy panicked. It hears and asks nothing any more; the others go on.
    fallen: Vec<bool>,
    /// Those whose fall has not been dealt with.
    falling: Vec<usize>,
}

impl Crew {
    pub(super) fn new(seats: Vec<Seat>) -> Self {
        let fallen = vec![false; seats.len()];
        Self { seats, fallen, falling: Vec::new() }
    }

    #[inline]
    pub(super) fn hear(&mut self, published: &Published) {
        for place in 0..self.seats.len() {
            self.call(place, |seat| seat.hear(published));
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
        self.call(place, |seat| seat.refuse(now, command, refusal));
    }

    /// A strategy that panics falls alone.
    #[inline]
    fn call(&mut self, place: usize, what: impl FnOnce(&mut Seat)) {
        if self.fallen[place] {
            return;
        }
        let seat = &mut self.seats[place];
        if catch_unwind(AssertUnwindSafe(|| what(seat))).is_err() {
            self.fallen[place] = true;
            self.falling.push(place);
        }
    }

    /// Strategies that panicked since the last time.
    pub(super) fn take_falling(&mut self) -> Vec<(StrategyId, Text)> {
        let who = |place: usize| (self.seats[place].who().id, self.seats[place].who().name.clone());
        std::mem::take(&mut self.falling).into_iter().map(who).collect()
    }

    pub(super) fn next_timer(&self) -> Option<Timestamp> {
        self.standing().filter_map(Seat::next_timer).min()
    }

    /// Whether anybody asks for anything, or must be looked after.
    #[inline]
    pub(super) fn has_commands(&self) -> bool {
        !self.falling.is_empty() || self.standing().any(Seat::has_commands)
    }

    /// What all ask for, in the order of their seats, each in its own name.
    pub(super) fn take_commands(&mut self, commands: &mut Vec<(usize, Box<Envelope>)>) {
        for (place, seat) in self.seats.iter_mut().enumerate() {
            if !seat.has_commands() {
                continue;
            }
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

    /// The places and ids of those who did not fall.
    pub(super) fn standing_ids(&self) -> Vec<(usize, StrategyId)> {
        let ids = self.seats.iter().map(|seat| seat.who().id).enumerate();
        ids.filter(|(place, _)| !self.fallen[*place]).collect()
    }

    pub(super) fn wants_bars(&self, security: SecurityId, size: BarSize) -> bool {
        let wishes = |seat: &Seat| seat.wishes().iter().any(|wish| wish.security == security && wish.size == size);
        self.seats.iter().any(|seat| seat.selection().wants(security, Prices::Bars(size)) || wishes(seat))
    }

    pub(super) fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// A strategy that floods, or that is never content at one instant, ends the run with its name.
    pub(super) fn check(&self, rounds: u32) -> Result<(), SimulationError> {
        let names =
            |seats: Vec<&Seat>| seats.iter().map(|seat| seat.who().name.to_string()).collect::<Vec<_>>().join(", ");
        let flooding: Vec<&Seat> = self.seats.iter().filter(|seat| seat.is_flooding()).collect();
        if !flooding.is_empty() {
            return Err(SimulationError::Floods(names(flooding)));
        }
        if rounds >= ROUNDS_MAX {
            return Err(SimulationError::NeverContent(names(
                self.seats.iter().filter(|seat| seat.has_commands()).collect(),
            )));
        }
        Ok(())
    }
}
