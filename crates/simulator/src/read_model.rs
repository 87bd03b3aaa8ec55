//! The read model behind the journal, as far as the platform knows it: how far it has applied events. And every event that ever
//! left the platform, which no restart may change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Event, PublishedEvent};

#[derive(Clone, Default)]
pub(crate) struct SimulatedReadModel(Arc<Mutex<ReadModelState>>);

#[derive(Default)]
struct ReadModelState {
    applied: u64,
    /// Events that left the platform, by the input that caused them.
    released: BTreeMap<u64, Vec<Event>>,
}

impl SimulatedReadModel {
    pub(crate) fn applied(&self) -> u64 {
        self.lock().applied
    }

    /// Durable events of the running platform.
    pub(crate) fn append(&self, through: u64, events: &[PublishedEvent]) {
        let mut state = self.lock();
        state.applied = through;
        for published in events {
            state.released.entry(published.sequence).or_default().push(published.event.clone());
        }
    }

    /// Events that recovery offers again: they were kept when they left.
    pub(crate) fn catch_up(&self, through: u64) {
        let mut state = self.lock();
        state.applied = state.applied.max(through);
    }

    /// Forgets what came after.
    pub(crate) fn roll_back_to(&self, sequence: u64) {
        let mut state = self.lock();
        state.applied = state.applied.min(sequence);
    }

    /// The newest input whose events it still has.
    pub(crate) fn newest_event(&self) -> u64 {
        let state = self.lock();
        state.released.keys().next_back().copied().unwrap_or(0).min(state.applied)
    }

    pub(crate) fn released(&self) -> BTreeMap<u64, Vec<Event>> {
        self.lock().released.clone()
    }

    fn lock(&self) -> MutexGuard<'_, ReadModelState> {
        // One thread uses it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
