//! Run progress, readable from another thread: finds a callback that does not return.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

use domain::Timestamp;

/// No strategy is being called.
const NO_STRATEGY: usize = usize::MAX;

/// Written at every call, so it is only two plain stores: a reader may get a slightly old value.
#[derive(Debug)]
pub struct RunProgress {
    at: AtomicI64,
    strategy: AtomicUsize,
}

impl Default for RunProgress {
    fn default() -> Self {
        Self { at: AtomicI64::new(0), strategy: AtomicUsize::new(NO_STRATEGY) }
    }
}

impl RunProgress {
    /// The virtual time of the run.
    pub fn at(&self) -> Timestamp {
        Timestamp(self.at.load(Relaxed))
    }

    /// The index of the strategy that is being called.
    pub fn strategy_index(&self) -> Option<usize> {
        Some(self.strategy.load(Relaxed)).filter(|place| *place != NO_STRATEGY)
    }

    #[inline]
    pub(super) fn set_time(&self, at: Timestamp) {
        self.at.store(at.0, Relaxed);
    }

    #[inline]
    pub(super) fn enter_callback(&self, place: usize) {
        self.strategy.store(place, Relaxed);
    }

    #[inline]
    pub(super) fn leave_callback(&self) {
        self.strategy.store(NO_STRATEGY, Relaxed);
    }
}
