//! Heartbeat of a strategy process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use domain::ReferenceData;
use domain::query::ProcessRun;
use strategy::StrategyIdentity;

use super::local_link::LocalLink;
use super::strategy_thread::RunnerEvent;

/// What the bridge gets for a strategy process that connected.
pub struct AttachedStrategy {
    pub identity: StrategyIdentity,
    pub reference: Arc<ReferenceData>,
    pub link: LocalLink,
    pub events: Sender<RunnerEvent>,
    pub heartbeat: ProcessHeartbeat,
    /// The earlier run continues.
    pub is_resumed: bool,
    /// Where it began at another server: what the journal knows of it.
    pub adopted: Option<ProcessRun>,
}

/// When a strategy process was last heard, and what it had acknowledged by then.
#[derive(Clone)]
pub struct ProcessHeartbeat(Arc<Mutex<LastHeartbeat>>);

#[derive(Debug, Clone, Copy)]
struct LastHeartbeat {
    at: Instant,
    acknowledged: u64,
}

impl Default for ProcessHeartbeat {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LastHeartbeat { at: Instant::now(), acknowledged: 0 })))
    }
}

impl ProcessHeartbeat {
    /// Records a heartbeat.
    pub fn record(&self) {
        self.lock().at = Instant::now();
    }

    /// Records a heartbeat and what it has acknowledged.
    pub fn acknowledge(&self, sequence: u64) {
        let mut beat = self.lock();
        *beat = LastHeartbeat { at: Instant::now(), acknowledged: beat.acknowledged.max(sequence) };
    }

    pub(crate) fn last_acknowledged(&self) -> u64 {
        self.lock().acknowledged
    }

    pub(crate) fn silent_for(&self) -> Duration {
        self.lock().at.elapsed()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LastHeartbeat> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
