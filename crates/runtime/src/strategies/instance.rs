//! A running strategy instance.

use std::thread::JoinHandle;
use std::time::Duration;

use domain::command::StrategyPhase;
use strategy::{BarHistoryRequest, StrategyIdentity};

use super::failures::RateWindow;
use super::local_link::LocalLink;
use super::remote::ProcessHeartbeat;
use super::strategy_queue::StrategyQueue;

/// A process that was heard within this time is alive, and is not replaced without a take-over. It sends heartbeats
/// eight times as often.
const LIVENESS_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct RunningInstance {
    pub(super) identity: StrategyIdentity,
    pub(super) link: LocalLink,
    pub(super) kind: InstanceKind,
    /// The newest phase that it has gone through.
    pub(super) phase: Option<StrategyPhase>,
    pub(super) history_requests: Vec<BarHistoryRequest>,
    /// It is exiting, so no other phase follows.
    pub(super) is_leaving: bool,
    /// Events after this sequence are replayed before it runs.
    pub(super) replay_after: Option<u64>,
    pub(super) rate_window: RateWindow,
}

/// Where a strategy runs.
pub(super) enum InstanceKind {
    Thread(JoinHandle<()>),
    Process(ProcessHeartbeat),
}

impl RunningInstance {
    pub(super) fn new(identity: StrategyIdentity, link: LocalLink, kind: InstanceKind) -> Self {
        let (phase, history_requests, rate_window) = (None, vec![], RateWindow::default());
        Self { identity, link, kind, phase, history_requests, is_leaving: false, replay_after: None, rate_window }
    }

    pub(super) fn queue(&self) -> &StrategyQueue {
        self.link.queue()
    }

    /// Whether its process was heard recently.
    pub(super) fn is_alive(&self) -> bool {
        matches!(&self.kind, InstanceKind::Process(pulse) if pulse.silent_for() < LIVENESS_TIMEOUT)
    }

    /// How long it has not responded.
    pub(super) fn stuck_for(&self) -> Option<Duration> {
        match &self.kind {
            InstanceKind::Thread(_) => self.queue().busy_for(),
            InstanceKind::Process(pulse) => Some(pulse.silent_for()),
        }
    }
}
