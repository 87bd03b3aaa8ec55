//! A running strategy instance.

use std::thread::JoinHandle;
use std::time::Duration;

use domain::command::Phase;
use strategy::{Who, Wish};

use super::failing::Haste;
use super::inside::Inside;
use super::mailbox::Mailbox;
use super::remote::Pulse;

/// A process that was heard within this time is alive, and is not replaced without a take-over. It sends heartbeats
/// eight times as often.
const WELL: Duration = Duration::from_secs(2);

pub(super) struct Running {
    pub(super) who: Who,
    pub(super) link: Inside,
    pub(super) body: Body,
    /// The newest phase that it has gone through.
    pub(super) phase: Option<Phase>,
    pub(super) wishes: Vec<Wish>,
    /// It is exiting, so no other phase follows.
    pub(super) is_leaving: bool,
    /// Events after this sequence are replayed before it runs.
    pub(super) missed_after: Option<u64>,
    pub(super) haste: Haste,
}

/// Where a strategy runs.
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

    /// Whether its process was heard recently.
    pub(super) fn is_well(&self) -> bool {
        matches!(&self.body, Body::Process(pulse) if pulse.silent_for() < WELL)
    }

    /// How long it has not responded.
    pub(super) fn stuck_for(&self) -> Option<Duration> {
        match &self.body {
            Body::Thread(_) => self.mailbox().busy_for(),
            Body::Process(pulse) => Some(pulse.silent_for()),
        }
    }
}
