//! Applied sequence of the read model; queries wait until their own sequence is applied.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bus::history::HistoryError;

pub(crate) struct ApplyProgress {
    state: Mutex<ApplyState>,
    changed: Condvar,
}

struct ApplyState {
    applied: u64,
    /// What the store itself says that it has: no events are between it and `applied`.
    saved: u64,
    failure: Option<String>,
    /// Why the store does not answer at the moment.
    interruption: Option<String>,
}

impl ApplyProgress {
    pub(crate) fn new(applied: u64) -> Self {
        let state = ApplyState { applied, saved: applied, failure: None, interruption: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn advance(&self, applied: u64, saved: u64) {
        let mut state = self.lock();
        (state.applied, state.saved) = (applied, saved);
        drop(state);
        self.changed.notify_all();
    }

    /// Only the first failure counts.
    pub(crate) fn fail(&self, reason: String) {
        self.lock().failure.get_or_insert(reason);
        self.changed.notify_all();
    }

    /// The store does not answer for now.
    pub(crate) fn interrupt(&self, reason: String) {
        self.lock().interruption = Some(reason);
        self.changed.notify_all();
    }

    /// The store answers again, and is complete up to a sequence.
    pub(crate) fn resume(&self, applied: u64) {
        let mut state = self.lock();
        (state.applied, state.saved, state.interruption) = (applied, applied, None);
        drop(state);
        self.changed.notify_all();
    }

    pub(crate) fn applied(&self) -> u64 {
        self.lock().applied
    }

    /// A failure, else why the store does not answer.
    pub(crate) fn failure(&self) -> Option<String> {
        let state = self.lock();
        state.failure.clone().or_else(|| state.interruption.clone())
    }

    /// Returns when everything up to `wanted` is applied, with what a store has to have for an answer.
    pub(crate) fn wait(&self, wanted: u64, patience: Duration) -> Result<u64, HistoryError> {
        let is_open = |reached: &mut ApplyState| {
            reached.applied < wanted && reached.failure.is_none() && reached.interruption.is_none()
        };
        let (reached, _) =
            self.changed.wait_timeout_while(self.lock(), patience, is_open).unwrap_or_else(PoisonError::into_inner);
        match &reached.failure {
            _ if reached.applied >= wanted => Ok(wanted.min(reached.saved)),
            Some(reason) => Err(HistoryError::Failed(reason.clone())),
            None if reached.interruption.is_some() => {
                Err(HistoryError::Unavailable(reached.interruption.clone().unwrap_or_default()))
            }
            None => Err(HistoryError::Behind { applied: reached.applied, wanted }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ApplyState> {
        // Every change under the lock is complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
