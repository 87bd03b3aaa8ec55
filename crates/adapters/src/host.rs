//! Adapter host: connect ▸ reconcile ▸ logged on ▸ subscribe ▸ serve ▸ lost ▸ reconnect with backoff. It connects after
//! the engine has sent its subscriptions, so that SUBSCRIBED means all of them.
//!
//! The host only translates. It reads no clock and owns no thread: `thread` drives it by the wall clock, tests by hand.

use std::collections::BTreeSet;

use bus::{Closed, Inbox};
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::report::{Said, SessionState};
use domain::{AdapterName, Instruction, OrderId, Report, SecurityId, Text, Timestamp};

use crate::venue::{Adapter, Broken, Sending, Sink};

/// The first pause after a lost or refused session; each further one is twice as long.
pub const BACKOFF_FIRST_MILLIS: i64 = 100;
/// No pause is longer.
pub const BACKOFF_MAX_MILLIS: i64 = 10_000;

/// Pauses between reconnects.
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
    /// The pause after a number of consecutive failures.
    fn pause_millis(self, failures: u32) -> i64 {
        let factor = 1_i64.checked_shl(failures).filter(|factor| *factor > 0).unwrap_or(i64::MAX);
        self.first_millis.saturating_mul(factor).min(self.max_millis)
    }
}

pub struct Host<A> {
    adapter: A,
    line: Line,
    backoff: Backoff,
    /// Securities that the engine has subscribed, kept over all sessions.
    wanted: BTreeSet<SecurityId>,
    session: Session,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Session {
    /// The engine has not sent LOGON yet.
    Unknown,
    Away {
        why: Text,
        failures: u32,
        retry_at: Timestamp,
    },
    LoggedOn,
}

impl<A: Adapter> Host<A> {
    /// Reports the capabilities of the adapter to the engine. The first `step` after the engine's LOGON connects.
    pub fn attach(name: AdapterName, adapter: A, inbox: Inbox, backoff: Backoff) -> Result<Self, Closed> {
        let mut line = Line { name, inbox, outcome: Ok(()) };
        line.say(Said::Attached(adapter.profile()))?;
        Ok(Self { adapter, line, backoff, wanted: BTreeSet::new(), session: Session::Unknown })
    }

    /// Connects where that is due; delivers the venue's reports and prices.
    pub fn step(&mut self, at: Timestamp) -> Result<(), Closed> {
        match self.session {
            Session::LoggedOn => self.deliver(at),
            Session::Away { retry_at, .. } if at >= retry_at => self.log_on(at),
            Session::Unknown | Session::Away { .. } => Ok(()),
        }
    }

    /// When `step` is due next.
    pub fn due(&self) -> Option<Timestamp> {
        match self.session {
            Session::LoggedOn => self.adapter.due(),
            Session::Unknown => None,
            Session::Away { retry_at, .. } => Some(retry_at),
        }
    }

    /// Wakes when `step` has work before it is due.
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

    /// Logs off from the venue after its last reports; also where the engine has stopped.
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
        tracing::info!(adapter = %self.line.name, "session logged on and reconciled");
        // Available prices are delivered first, so that they are there when SUBSCRIBED is reported.
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
            tracing::warn!(
                adapter = %self.line.name, %security, %reason,
                "market data subscription failed; it is retried with the next session"
            );
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
            // With a session there is nothing to do.
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
        tracing::warn!(
            adapter = %self.line.name, reason = %broken, retry_in_millis = millis,
            "venue session lost or refused; reconnecting"
        );
        let failures = failures.saturating_add(1);
        self.session = Session::Away { why: broken.0.clone(), failures, retry_at: at.plus_millis(millis) };
    }
}

/// The report to the engine where a request was not sent. A subscription is tried again with the next session.
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

/// Connection to the engine.
struct Line {
    name: AdapterName,
    inbox: Inbox,
    /// Whether the engine was still running at the last report.
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
