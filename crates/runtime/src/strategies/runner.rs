//! A strategy's own thread: hear, call, ask. The same in the server and in a process of its own; only the link differs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crossbeam_channel::Sender;
use domain::StrategyId;
use domain::command::Phase;
use strategy::{Past, Seat, Wish};

use super::failing::message_of;
use super::link::{Delivery, Link, Lost};
use crate::live::Clock;

/// How long a strategy without a timer sleeps when nothing happens.
const IDLE: Duration = Duration::from_millis(500);

/// What a strategy's thread tells whoever started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    Entered(StrategyId, Progress),
    Ended(StrategyId, Ending),
    /// The risk gate refused an order of the strategy, because it places too many.
    RateRefused(StrategyId),
}

/// A phase that the strategy has gone through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    /// What it would like to know of the past.
    pub wishes: Vec<Wish>,
}

/// Why a strategy no longer runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It went through EXIT.
    Exited,
    Panicked(String),
    /// One call-back asked for too much.
    Flooded,
    Lost(String),
}

pub struct Runner<L> {
    seat: Seat,
    link: L,
    clock: Clock,
    notes: Sender<Note>,
}

impl<L: Link> Runner<L> {
    pub fn new(seat: Seat, link: L, clock: Clock, notes: Sender<Note>) -> Self {
        Self { seat, link, clock, notes }
    }

    /// Until the strategy has left or can't go on.
    pub fn run(mut self) {
        let ending = loop {
            if let Some(ending) = self.turn() {
                break ending;
            }
        };
        self.note(Note::Ended(self.seat.who().id, ending));
    }

    fn turn(&mut self) -> Option<Ending> {
        let mut deliveries = Vec::new();
        if let Err(Lost(reason)) = self.link.receive(self.patience(), &mut deliveries) {
            return Some(Ending::Lost(reason));
        }
        for delivery in deliveries {
            if let Some(ending) = self.take(delivery) {
                return Some(ending);
            }
        }
        let now = (self.clock)();
        self.call(|seat| seat.advance(now))
    }

    fn take(&mut self, delivery: Delivery) -> Option<Ending> {
        match delivery {
            Delivery::Event(published) => self.call(|seat| seat.hear(&published)),
            Delivery::Refused(refused) => {
                let now = (self.clock)();
                self.call(|seat| seat.refuse_by(now, &refused))
            }
            Delivery::Replay => None,
            Delivery::Enter(phase, past) => self.enter(phase, &past),
        }
    }

    fn enter(&mut self, phase: Phase, past: &Past) -> Option<Ending> {
        let now = (self.clock)();
        if let Some(ending) = self.call(|seat| seat.enter(phase, now, past)) {
            return Some(ending);
        }
        let progress = Progress { phase, wishes: self.seat.wishes().to_vec() };
        self.note(Note::Entered(self.seat.who().id, progress));
        (phase == Phase::Exit).then_some(Ending::Exited)
    }

    /// Calls the strategy and hands over what it asks for. A panic is the strategy's own and ends here.
    fn call(&mut self, what: impl FnOnce(&mut Seat)) -> Option<Ending> {
        // A seat whose strategy has panicked is not used again.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| what(&mut self.seat))) {
            return Some(Ending::Panicked(message_of(&*panic)));
        }
        // What a flood asks for is not looked at: half of it would be worse than nothing.
        if self.seat.is_flooding() {
            return Some(Ending::Flooded);
        }
        for command in self.seat.commands() {
            if let Err(Lost(reason)) = self.link.send(command) {
                return Some(Ending::Lost(reason));
            }
        }
        None
    }

    /// Until the next timer is due.
    fn patience(&self) -> Duration {
        let Some(due) = self.seat.next_timer() else { return IDLE };
        let nanos = due.nanos_since((self.clock)());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)).min(IDLE)
    }

    fn note(&self, note: Note) {
        // A host that is gone needs no note.
        let _ = self.notes.send(note);
    }
}
