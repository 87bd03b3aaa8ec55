//! Where a run is, for whoever watches over it from another thread: a call-back that does not return cannot say so itself.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

use domain::Timestamp;

/// No strategy is being called.
const NOBODY: usize = usize::MAX;

/// Written at every call, so it is two plain stores and no more: what is read may be a moment old.
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
    /// The instant that is being played.
    pub fn at(&self) -> Timestamp {
        Timestamp(self.at.load(Relaxed))
    }

    /// The place, among the seats, of the strategy that is being called.
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
