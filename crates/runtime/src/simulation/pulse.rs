//! Run progress, readable from another thread: finds a callback that does not return.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

use domain::Timestamp;

/// No strategy is being called.
const NOBODY: usize = usize::MAX;

/// Written at every call, so it is only two plain stores: a reader may get a slightly old value.
#[derive(Debug)]
pub struct Pulse {
    at: AtomicI64,
    place: AtomicUsize,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { at: AtomicI64::new(0), place: AtomicUsize::new(NOBODY) }
    }
}

impl Pulse {
    /// The virtual time of the run.
    pub fn at(&self) -> Timestamp {
        Timestamp(self.at.load(Relaxed))
    }

    /// The index of the strategy that is being called.
    pub fn place(&self) -> Option<usize> {
        Some(self.place.load(Relaxed)).filter(|place| *place != NOBODY)
    }

    #[inline]
    pub(super) fn come_to(&self, at: Timestamp) {
        self.at.store(at.0, Relaxed);
    }

    #[inline]
    pub(super) fn call(&self, place: usize) {
        self.place.store(place, Relaxed);
    }

    #[inline]
    pub(super) fn call_nobody(&self) {
        self.place.store(NOBODY, Relaxed);
    }
}
