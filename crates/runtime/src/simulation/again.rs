//! A strategy that lives its life again beside a journal: what it asks for waits to be held against what was asked for in the
//! session. One that panicked, flooded or hung in the session does so again, and must not take the replay with it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use domain::command::Phase;
use domain::{Command, Published, Refusal, Timestamp};
use strategy::{Past, Seat, Wish};

/// What is told to the strategy.
pub(super) enum Call {
    Hear(Published),
    /// Timers that are due by then.
    Advance(Timestamp),
    Refuse(Timestamp, Box<(Command, Refusal)>),
    Enter(Phase, Timestamp, Past),
}

/// What came of it.
struct Outcome {
    commands: Vec<Command>,
    next_timer: Option<Timestamp>,
    wishes: Vec<Wish>,
}

pub(super) struct Again {
    body: Body,
    /// What it asked for and the journal has not shown yet.
    asked: VecDeque<Command>,
    next_timer: Option<Timestamp>,
    wishes: Vec<Wish>,
    /// It failed again: it hears and asks nothing any more.
    is_over: bool,
}

enum Body {
    Here(Box<Seat>),
    /// On a thread of its own, because it never returned in the session.
    Apart {
        calls: Sender<Call>,
        outcomes: Receiver<Option<Outcome>>,
        patience: Duration,
    },
}

impl Again {
    /// With patience where it hung in the session: a call-back that takes longer is the one that never returned.
    pub(super) fn new(seat: Seat, patience: Option<Duration>) -> std::io::Result<Self> {
        let body = match patience {
            None => Body::Here(Box::new(seat)),
            Some(patience) => apart(seat, patience)?,
        };
        Ok(Self { body, asked: VecDeque::new(), next_timer: None, wishes: vec![], is_over: false })
    }

    pub(super) fn call(&mut self, call: Call) {
        if self.is_over {
            return;
        }
        let outcome = match &mut self.body {
            Body::Here(seat) => act(seat, call),
            Body::Apart { calls, outcomes, patience } => {
                calls.send(call).ok().and_then(|()| outcomes.recv_timeout(*patience).ok().flatten())
            }
        };
        match outcome {
            Some(Outcome { commands, next_timer, wishes }) => {
                self.asked.extend(commands);
                (self.next_timer, self.wishes) = (next_timer, wishes);
            }
            None => self.is_over = true,
        }
    }

    pub(super) fn next_timer(&self) -> Option<Timestamp> {
        self.next_timer.filter(|_| !self.is_over)
    }

    pub(super) fn wishes(&self) -> &[Wish] {
        &self.wishes
    }

    /// The first that it asked for and that was not held against the journal yet.
    pub(super) fn next_asked(&mut self) -> Option<Command> {
        self.asked.pop_front()
    }

    pub(super) fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }
}

fn apart(mut seat: Seat, patience: Duration) -> std::io::Result<Body> {
    let (calls, called) = bounded::<Call>(1);
    let (done, outcomes) = bounded(1);
    let live = move || {
        for call in called {
            if done.send(act(&mut seat, call)).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("strategy again".into()).spawn(live)?;
    Ok(Body::Apart { calls, outcomes, patience })
}

/// Nothing where the strategy panicked or flooded: as in live, nothing of that call counts.
fn act(seat: &mut Seat, call: Call) -> Option<Outcome> {
    let told = catch_unwind(AssertUnwindSafe(|| match call {
        Call::Hear(published) => seat.hear(&published),
        Call::Advance(now) => seat.advance(now),
        Call::Refuse(now, refused) => {
            let (command, refusal) = *refused;
            seat.refuse(now, command, &refusal);
        }
        Call::Enter(phase, now, past) => seat.enter(phase, now, &past),
    }));
    if told.is_err() || seat.is_flooding() {
        return None;
    }
    let commands = seat.commands().collect();
    Some(Outcome { commands, next_timer: seat.next_timer(), wishes: seat.wishes().to_vec() })
}
