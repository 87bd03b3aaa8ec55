//! One session at a venue, over and over: connect ▸ picture ▸ logged on ▸ subscribe ▸ serve ▸ lost ▸ again. The first one
//! begins when the engine has said what it wants, so that SUBSCRIBED means all of it.
//!
//! The host only translates. It reads no clock and owns no thread: `thread` drives it by the wall clock, tests by hand.

use std::collections::BTreeSet;

use bus::{Closed, Inbox};
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::report::{Said, SessionState};
use domain::{AdapterName, Instruction, OrderId, Report, SecurityId, Text, Timestamp};

use crate::venue::{Adapter, Broken, Sending, Sink};

/// The first pause after a session that was lost or could not be had; each further one is twice as long.
pub const BACKOFF_FIRST_MILLIS: i64 = 100;
/// No pause is longer.
pub const BACKOFF_MAX_MILLIS: i64 = 10_000;

/// How long to wait before the venue is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub first_millis: i64,
    pub max_millis: i64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first_millis: BACKOFF_FIRST_MILLIS, max_millis: BACKOFF_MAX_MILLIS }
    }
}

impl Backoff {
    /// The pause after so many failures in a row.
    fn pause_millis(self, failures: u32) -> i64 {
        let factor = 1_i64.checked_shl(failures).filter(|factor| *factor > 0).unwrap_or(i64::MAX);
        self.first_millis.saturating_mul(factor).min(self.max_millis)
    }
}

pub struct Host<A> {
    adapter: A,
    line: Line,
    backoff: Backoff,
    /// What the engine wants prices of, remembered over every session.
    wanted: BTreeSet<SecurityId>,
    session: Session,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Session {
    /// The engine has not greeted the adapter yet.
    Unknown,
    Away {
        why: Text,
        failures: u32,
        retry_at: Timestamp,
    },
    LoggedOn,
}

impl<A: Adapter> Host<A> {
    /// Tells the engine what this adapter serves. The first `step` after its greeting connects.
    pub fn attach(name: AdapterName, adapter: A, inbox: Inbox, backoff: Backoff) -> Result<Self, Closed> {
        let mut line = Line { name, inbox, outcome: Ok(()) };
        line.say(Said::Attached(adapter.profile()))?;
        Ok(Self { adapter, line, backoff, wanted: BTreeSet::new(), session: Session::Unknown })
    }

    /// Connects where that is due; delivers what the venue has said.
    pub fn step(&mut self, at: Timestamp) -> Result<(), Closed> {
        match self.session {
            Session::LoggedOn => self.deliver(at),
            Session::Away { retry_at, .. } if at >= retry_at => self.log_on(at),
            Session::Unknown | Session::Away { .. } => Ok(()),
        }
    }

    /// When `step` wants to be called next.
    pub fn due(&self) -> Option<Timestamp> {
        match self.session {
            Session::LoggedOn => self.adapter.due(),
            Session::Unknown => None,
            Session::Away { retry_at, .. } => Some(retry_at),
        }
    }

    /// Rings when `step` has work before it is due.
    pub fn bell(&self) -> Receiver<()> {
        self.adapter.bell()
    }

    pub fn take(&mut self, at: Timestamp, instruction: &Instruction) -> Result<(), Closed> {
        self.remember(at, instruction);
        let sending = match &self.session {
            Session::LoggedOn => self.send(at, instruction),
            Session::Unknown => Sending::NotSent("not logged on yet".into()),
            Session::Away { why, .. } => Sending::NotSent(format!("not logged on: {why}").into()),
        };
        match answer(instruction, sending) {
            Some(said) => self.line.say(said),
            None => Ok(()),
        }
    }

    /// Leaves the venue in order, after its last words; also where the engine no longer hears them.
    pub fn leave(&mut self, at: Timestamp) -> Result<(), Closed> {
        let heard = if self.session == Session::LoggedOn { self.deliver(at) } else { Ok(()) };
        if self.session != Session::LoggedOn {
            return heard;
        }
        self.adapter.disconnect(at);
        self.session = Session::Away { why: "the server stops".into(), failures: 0, retry_at: at };
        self.line.say(Said::Session(SessionState::Disconnected))
    }

    fn remember(&mut self, at: Timestamp, instruction: &Instruction) {
        match instruction {
            Instruction::LogOn if self.session == Session::Unknown => {
                self.session = Session::Away { why: "not connected yet".into(), failures: 0, retry_at: at };
            }
            Instruction::Subscribe(security) => drop(self.wanted.insert(*security)),
            Instruction::Unsubscribe(security) => drop(self.wanted.remove(security)),
            Instruction::LogOn | Instruction::Submit(_) | Instruction::Replace(..) | Instruction::Cancel(_) => {}
        }
    }

    fn log_on(&mut self, at: Timestamp) -> Result<(), Closed> {
        if let Err(broken) = self.adapter.connect(at) {
            self.pause(at, &broken);
            return Ok(());
        }
        self.line.say(Said::Session(SessionState::Connected))?;
        match self.adapter.picture(at) {
            Ok(picture) => self.line.say(Said::Picture(picture))?,
            Err(broken) => return self.lose(at, &broken),
        }
        self.session = Session::LoggedOn;
        self.line.say(Said::Session(SessionState::LoggedOn))?;
        self.subscribe_wanted(at);
        tracing::info!(adapter = %self.line.name, "open for orders");
        // Prices that the venue has at hand go first, so that whoever waits for SUBSCRIBED finds them.
        self.deliver(at)?;
        match self.session {
            Session::LoggedOn => self.line.say(Said::Session(SessionState::Subscribed)),
            Session::Unknown | Session::Away { .. } => Ok(()),
        }
    }

    fn subscribe_wanted(&mut self, at: Timestamp) {
        for security in self.wanted.clone() {
            self.subscribe(at, security);
        }
    }

    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> Sending {
        let sending = self.adapter.subscribe(at, security);
        if let Sending::NotSent(reason) | Sending::Unknown(reason) = &sending {
            tracing::warn!(adapter = %self.line.name, %security, %reason, "no prices");
        }
        sending
    }

    fn deliver(&mut self, at: Timestamp) -> Result<(), Closed> {
        let delivered = self.adapter.deliver(at, &mut self.line);
        self.line.outcome?;
        match delivered {
            Ok(()) => Ok(()),
            Err(broken) => self.lose(at, &broken),
        }
    }

    fn send(&mut self, at: Timestamp, instruction: &Instruction) -> Sending {
        match instruction {
            // Where a session is, there is nothing to begin.
            Instruction::LogOn => Sending::Sent,
            Instruction::Submit(order) => self.adapter.submit(at, order),
            Instruction::Replace(order, terms) => self.adapter.modify(at, order, *terms),
            Instruction::Cancel(order) => self.adapter.cancel(at, order),
            Instruction::Subscribe(security) => self.subscribe(at, *security),
            Instruction::Unsubscribe(security) => self.adapter.unsubscribe(at, *security),
        }
    }

    fn lose(&mut self, at: Timestamp, broken: &Broken) -> Result<(), Closed> {
        self.adapter.disconnect(at);
        self.pause(at, broken);
        self.line.say(Said::Session(SessionState::Disconnected))
    }

    fn pause(&mut self, at: Timestamp, broken: &Broken) {
        let failures = match self.session {
            Session::Unknown | Session::LoggedOn => 0,
            Session::Away { failures, .. } => failures,
        };
        let millis = self.backoff.pause_millis(failures);
        tracing::warn!(adapter = %self.line.name, reason = %broken, pause_millis = millis, "no session at the venue");
        let failures = failures.saturating_add(1);
        self.session = Session::Away { why: broken.0.clone(), failures, retry_at: at.plus_millis(millis) };
    }
}

/// What the engine is told where a request did not get through. A subscription is tried again with the next session.
fn answer(instruction: &Instruction, sending: Sending) -> Option<Said> {
    let (order, said): (_, fn(OrderId, Text) -> Said) = match instruction {
        Instruction::Submit(order) => (order.id, |order, reason| Said::Unsent { order, reason }),
        Instruction::Replace(order, _) => (order.id, |order, reason| Said::ReplaceRejected { order, reason }),
        Instruction::Cancel(order) => (order.id, |order, reason| Said::CancelRejected { order, reason }),
        Instruction::LogOn | Instruction::Subscribe(_) | Instruction::Unsubscribe(_) => return None,
    };
    match sending {
        Sending::Sent => None,
        Sending::NotSent(reason) => Some(said(order, reason)),
        Sending::Unknown(reason) => Some(Said::Lost { order, reason }),
    }
}

/// The way to the engine.
struct Line {
    name: AdapterName,
    inbox: Inbox,
    /// Whether the engine still listened when something was last said.
    outcome: Result<(), Closed>,
}

impl Line {
    fn say(&mut self, said: Said) -> Result<(), Closed> {
        self.report(None, said);
        self.outcome
    }
}

impl Sink for Line {
    fn report(&mut self, at: Option<Timestamp>, said: Said) {
        if self.outcome.is_ok() {
            self.outcome = self.inbox.report(Report { adapter: self.name.clone(), ext_at: at, said });
        }
    }

    fn price(&mut self, data: MarketData) {
        self.inbox.price(data);
    }
}
