//! Strategy thread: receives deliveries, calls the strategy, sends its commands. The same in process and in a separate
//! process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crossbeam_channel::Sender;
use domain::command::Phase;
use domain::{Published, StrategyId, Timestamp};
use strategy::{Past, Seat, Who, Wish};

use super::diary::Diary;
use super::failing::message_of;
use super::link::{Delivery, Link, Lost};
use crate::live::Clock;

/// How long a strategy without a timer sleeps when nothing happens.
const IDLE: Duration = Duration::from_millis(500);

/// Messages of a strategy's thread to its supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    Entered(LifeId, Progress),
    Ended(LifeId, Ending),
    /// The risk gate refused an order of the strategy, because it places too many.
    RateRefused(StrategyId),
}

/// One run of a strategy: late messages of an earlier run do not concern the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LifeId {
    pub strategy: StrategyId,
    pub run: u64,
}

impl From<&Who> for LifeId {
    fn from(who: &Who) -> Self {
        Self { strategy: who.id, run: who.run }
    }
}

/// A phase that the strategy has gone through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    /// Its requests for past bars.
    pub wishes: Vec<Wish>,
}

/// Why a strategy no longer runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It went through EXIT.
    Exited,
    Panicked(String),
    /// One callback sent too many commands.
    Flooded,
    Lost(String),
}

pub struct Runner<L> {
    seat: Seat,
    link: L,
    clock: Clock,
    notes: Sender<Note>,
    /// Kept where the strategy must be replayable.
    diary: Option<Diary>,
}

impl<L: Link> Runner<L> {
    pub fn new(seat: Seat, link: L, clock: Clock, notes: Sender<Note>) -> Self {
        Self { seat, link, clock, notes, diary: None }
    }

    /// From now on all deliveries are journalled too.
    #[must_use]
    pub fn with_diary(mut self) -> Self {
        self.diary = Some(Diary::of(self.seat.who()));
        self
    }

    /// Until the strategy has exited or failed.
    pub fn run(mut self) {
        let ending = loop {
            if let Some(ending) = self.turn() {
                break ending;
            }
        };
        self.note(Note::Ended(self.seat.who().into(), ending));
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
        self.advance(now).or_else(|| self.write_if_due(now))
    }

    fn take(&mut self, delivery: Delivery) -> Option<Ending> {
        match delivery {
            Delivery::Event(published) => self.hear(&published),
            Delivery::Refused(refused) => {
                let now = (self.clock)();
                self.diary.iter_mut().for_each(|diary| diary.refused(now, &refused));
                self.call(|seat| seat.refuse_by(now, &refused))
            }
            Delivery::Replay => None,
            Delivery::Enter(phase, past) => self.enter(phase, &past),
        }
    }

    fn hear(&mut self, published: &Published) -> Option<Ending> {
        if let Some(diary) = self.diary.as_mut().filter(|_| self.seat.heeds(&published.event)) {
            diary.event(published);
        }
        self.call(|seat| seat.hear(published)).or_else(|| self.write_if_due(published.at))
    }

    fn advance(&mut self, now: Timestamp) -> Option<Ending> {
        if self.next_timer().is_none_or(|due| due > now) {
            return None;
        }
        self.diary.iter_mut().for_each(|diary| diary.advanced(now));
        self.call(|seat| seat.advance(now))
    }

    fn enter(&mut self, phase: Phase, past: &Past) -> Option<Ending> {
        let now = (self.clock)();
        self.diary.iter_mut().for_each(|diary| diary.entered(phase, now, past));
        if let Some(ending) = self.call(|seat| seat.enter(phase, now, past)) {
            return Some(ending);
        }
        if phase == Phase::Exit {
            self.diary.iter_mut().for_each(|diary| diary.left(now));
        }
        if let Err(Lost(reason)) = self.write() {
            return Some(Ending::Lost(reason));
        }
        let progress = Progress { phase, wishes: self.seat.wishes().to_vec() };
        self.note(Note::Entered(self.seat.who().into(), progress));
        (phase == Phase::Exit).then_some(Ending::Exited)
    }

    /// Calls the strategy and sends its commands. A panic ends only this strategy.
    fn call(&mut self, what: impl FnOnce(&mut Seat)) -> Option<Ending> {
        // A runner whose strategy has panicked is not used again.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| what(&mut self.seat))) {
            return Some(Ending::Panicked(message_of(&*panic)));
        }
        // The commands of a flood are all dropped: a part of them would be worse than nothing.
        if self.seat.is_flooding() {
            return Some(Ending::Flooded);
        }
        self.ask().err().map(|Lost(reason)| Ending::Lost(reason))
    }

    /// A delivery is in the journal before the commands that it caused.
    fn ask(&mut self) -> Result<(), Lost> {
        if self.seat.has_commands() {
            self.write()?;
        }
        self.seat.commands().try_for_each(|command| self.link.send(command))
    }

    fn write(&mut self) -> Result<(), Lost> {
        let leaves = self.diary.as_mut().map(Diary::take).unwrap_or_default();
        leaves.into_iter().try_for_each(|leaf| self.link.write(leaf))
    }

    fn write_if_due(&mut self, now: Timestamp) -> Option<Ending> {
        let is_due = self.diary.as_ref().is_some_and(|diary| diary.is_due(now));
        is_due.then(|| self.write().err()).flatten().map(|Lost(reason)| Ending::Lost(reason))
    }

    /// Before START none fires.
    fn next_timer(&self) -> Option<Timestamp> {
        self.seat.next_timer().filter(|_| matches!(self.seat.phase(), Some(Phase::Start | Phase::Run)))
    }

    /// Until the next timer is due.
    fn patience(&self) -> Duration {
        let Some(due) = self.next_timer() else { return IDLE };
        let nanos = due.nanos_since((self.clock)());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)).min(IDLE)
    }

    fn note(&self, note: Note) {
        // A host that has stopped needs no message.
        let _ = self.notes.send(note);
    }
}
