//! Strategy instances: those that run, and orphaned ones, which a crash left in a phase and no process has taken over; they
//! have a grace period.

use std::collections::BTreeMap;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use domain::command::StrategyPhase;
use domain::{StrategyId, Text};
use strategy::{BarHistoryRequest, StrategyIdentity};

use crate::strategies::failures::RateWindow;
use crate::strategies::link::local_link::LocalLink;
use crate::strategies::link::remote::ProcessHeartbeat;
use crate::strategies::link::strategy_queue::StrategyQueue;

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
    /// It began at another server, so this one's queue does not have all of its past.
    pub(super) is_adopted: bool,
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
        let (is_leaving, is_adopted, replay_after) = (false, false, None);
        Self { identity, link, kind, phase, history_requests, is_leaving, replay_after, is_adopted, rate_window }
    }

    /// A process whose run began at another server and has come to RUN there.
    pub(super) fn adopted(identity: StrategyIdentity, link: LocalLink) -> Self {
        let kind = InstanceKind::Process(ProcessHeartbeat::default());
        Self { phase: Some(StrategyPhase::Run), is_adopted: true, ..Self::new(identity, link, kind) }
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

#[derive(Default)]
pub(super) struct OrphanedStrategies {
    names: BTreeMap<StrategyId, Text>,
    /// End of the grace period.
    until: Option<Instant>,
}

impl OrphanedStrategies {
    pub(super) fn new(names: BTreeMap<StrategyId, Text>, patience: Duration) -> Self {
        Self { names, until: Instant::now().checked_add(patience) }
    }

    /// No longer orphaned: it came back, or it is stopped.
    pub(super) fn remove(&mut self, strategy: StrategyId) -> Option<Text> {
        self.names.remove(&strategy)
    }

    pub(super) fn by_name(&self, name: &str) -> Option<StrategyId> {
        self.names.iter().find(|(_, known)| &***known == name).map(|(id, _)| *id)
    }

    /// Those whose grace period is over.
    pub(super) fn overdue(&self) -> BTreeMap<StrategyId, Text> {
        let is_over = self.until.is_some_and(|until| until <= Instant::now());
        if is_over { self.names.clone() } else { BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> BTreeMap<StrategyId, Text> {
        BTreeMap::from([(StrategyId(2), "ONE".into()), (StrategyId(3), "TWO".into())])
    }

    #[test]
    fn one_that_came_back_is_waited_for_no_longer() {
        let mut absent = OrphanedStrategies::new(two(), Duration::ZERO);
        assert_eq!((absent.by_name("ONE"), absent.overdue()), (Some(StrategyId(2)), two()));
        assert_eq!(absent.remove(StrategyId(2)).as_deref(), Some("ONE"));
        let left = BTreeMap::from([(StrategyId(3), "TWO".into())]);
        assert_eq!((absent.by_name("ONE"), absent.overdue()), (None, left));
    }

    #[test]
    fn no_strategy_is_overdue_before_its_grace_period_is_over() {
        assert_eq!(OrphanedStrategies::new(two(), Duration::from_secs(600)).overdue(), BTreeMap::new());
    }
}
