//! A strategy that runs, as the manager knows it.

use std::thread::JoinHandle;
use std::time::Duration;

use domain::command::Phase;
use strategy::{Who, Wish};

use super::failing::Haste;
use super::inside::Inside;
use super::mailbox::Mailbox;
use super::remote::Pulse;

/// A process that was heard of within this time is well, and nobody takes its place unasked. It says eight times as often
/// that it lives.
const WELL: Duration = Duration::from_secs(2);

pub(super) struct Running {
    pub(super) who: Who,
    pub(super) link: Inside,
    pub(super) body: Body,
    /// The newest phase that it has gone through.
    pub(super) phase: Option<Phase>,
    pub(super) wishes: Vec<Wish>,
    /// It is on its way out, so no other phase follows.
    pub(super) is_leaving: bool,
    /// What came after this sequence is told again before it runs.
    pub(super) missed_after: Option<u64>,
    pub(super) haste: Haste,
}

/// Where a strategy lives.
pub(super) enum Body {
    Thread(JoinHandle<()>),
    Process(Pulse),
}

impl Running {
    pub(super) fn new(who: Who, link: Inside, body: Body) -> Self {
        let (phase, wishes, haste) = (None, vec![], Haste::default());
        Self { who, link, body, phase, wishes, is_leaving: false, missed_after: None, haste }
    }

    pub(super) fn mailbox(&self) -> &Mailbox {
        self.link.mailbox()
    }

    /// Whether its process was heard of just now.
    pub(super) fn is_well(&self) -> bool {
        matches!(&self.body, Body::Process(pulse) if pulse.silent_for() < WELL)
    }

    /// How long nothing has come back from it.
    pub(super) fn stuck_for(&self) -> Option<Duration> {
        match &self.body {
            Body::Thread(_) => self.mailbox().busy_for(),
            Body::Process(pulse) => Some(pulse.silent_for()),
        }
    }
}
