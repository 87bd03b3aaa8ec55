//! Strategy replay: a strategy gets the deliveries of its log again, and its commands are compared with the journal.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use domain::{Bar, Command, Published};
use strategy::{Past, Refused, Seat};

use crate::strategies::diary::Told;
use crate::strategies::event_bytes;

pub(super) struct Again {
    seat: Seat,
    /// Bars of the next phase.
    past: Vec<Bar>,
    /// Its commands that the journal has not shown yet.
    asked: VecDeque<Command>,
    /// It failed or differs: it gets no more deliveries.
    is_over: bool,
}

impl Again {
    pub(super) fn new(seat: Seat) -> Self {
        Self { seat, past: vec![], asked: VecDeque::new(), is_over: false }
    }

    /// A callback that panics or floods has no effect, as in live.
    pub(super) fn tell(&mut self, told: Told) {
        if self.is_over {
            return;
        }
        let lives = catch_unwind(AssertUnwindSafe(|| act(&mut self.seat, &mut self.past, told)));
        if lives.is_err() || self.seat.is_flooding() {
            self.is_over = true;
        } else {
            self.asked.extend(self.seat.commands());
        }
    }

    /// Its first command that was not compared with the journal yet.
    pub(super) fn next_asked(&mut self) -> Option<Command> {
        self.asked.pop_front()
    }

    pub(super) fn end(&mut self) {
        self.is_over = true;
        self.asked.clear();
    }
}

fn act(seat: &mut Seat, past: &mut Vec<Bar>, told: Told) {
    match told {
        Told::Event { at, class, payload } => {
            // An event that this build cannot decode is missing, and then the next command differs.
            let event = event_bytes::from_bytes(class, &payload);
            event.into_iter().for_each(|event| seat.hear(&Published { sequence: 0, at, event }));
        }
        Told::Past(bar) => past.push(bar),
        Told::Entered(phase, at) => seat.enter(phase, at, &std::mem::take(past).into_iter().collect::<Past>()),
        Told::Refused { at, command, code, reason } => {
            seat.refuse_by(at, &Refused { command: *command, code, reason });
        }
        Told::Advanced(now) => seat.advance(now),
        Told::TurnedAway | Told::Left => {}
    }
}
