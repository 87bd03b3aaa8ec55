//! Release gate: holds back what this disk and the log have, until enough other journals have it too.
//!
//! ```text
//! released = min(committed here and in the log, confirmed by standbys)
//! ```
//!
//! The writer never waits for it: frames go on to the log while the gate is shut, so that a slow standby costs no pulse of the leader.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::durability::{DurabilityEvent, DurabilityNotifier};
use crate::journal::shared::JournalShared;

pub(crate) struct ReleaseGate {
    shared: Arc<JournalShared>,
    notifier: DurabilityNotifier,
    state: Mutex<GateState>,
}

struct GateState {
    /// What counted before there was a gate.
    start: u64,
    committed: u64,
    /// None before enough standbys were heard of.
    confirmed: Option<u64>,
    released: u64,
    /// Since when the next record has waited for standbys alone.
    waiting_since: Option<Instant>,
    /// Nothing is released any more.
    is_closed: bool,
}

/// Records that only standbys lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldRecords {
    pub(crate) released: u64,
    pub(crate) committed: u64,
    /// For how long nothing was released.
    pub(crate) waited: Duration,
}

impl ReleaseGate {
    pub(crate) fn new(shared: Arc<JournalShared>, notifier: DurabilityNotifier, start: u64) -> Self {
        let state = GateState {
            start,
            committed: start,
            confirmed: None,
            released: start,
            waiting_since: None,
            is_closed: false,
        };
        Self { shared, notifier, state: Mutex::new(state) }
    }

    /// This disk and the log have everything up to here.
    pub(crate) fn commit(&self, sequence: u64) {
        let mut state = self.lock();
        state.committed = sequence;
        self.release(&mut state);
    }

    /// So do enough standbys. One that is ahead of this process's own disk counts when the disk follows.
    pub(crate) fn confirm(&self, sequence: u64) {
        let mut state = self.lock();
        state.confirmed = state.confirmed.max(Some(sequence));
        self.release(&mut state);
    }

    fn release(&self, state: &mut GateState) {
        if state.is_closed {
            return;
        }
        let to = state.confirmed.map_or(state.start, |confirmed| confirmed.min(state.committed));
        let has_advanced = to > state.released;
        if has_advanced {
            state.released = to;
            self.shared.publish(to);
            self.notifier.notify(DurabilityEvent::Advanced { to });
        }
        state.waiting_since = match state.waiting_since {
            _ if state.released >= state.committed => None,
            Some(since) if !has_advanced => Some(since),
            _ => Some(Instant::now()),
        };
    }

    /// The journal has failed, and has said so: no other event may follow.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Fails the journal where records have waited for at least so long. True where nothing is released any more.
    pub(crate) fn give_up(&self, after: Duration) -> bool {
        let mut state = self.lock();
        if state.waiting_since.is_some_and(|since| since.elapsed() >= after) && !state.is_closed {
            state.is_closed = true;
            let error = "stopped before a standby had the last record".to_owned();
            tracing::error!(released = state.released, committed = state.committed, "{error}");
            self.shared.fail(error.clone());
            self.notifier.notify(DurabilityEvent::Failed { error });
        }
        state.is_closed
    }

    /// What waits for standbys now.
    pub(crate) fn held(&self) -> Option<HeldRecords> {
        let GateState { released, committed, waiting_since, .. } = *self.lock();
        Some(HeldRecords { released, committed, waited: waiting_since?.elapsed() })
    }

    /// Whether enough standbys have what this journal had when its process began to lead.
    pub(crate) fn is_open(&self) -> bool {
        let state = self.lock();
        state.confirmed.is_some_and(|confirmed| confirmed >= state.start)
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        // Whole between any two statements that hold the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
