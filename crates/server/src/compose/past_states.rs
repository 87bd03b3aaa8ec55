//! Past states for `at`: one engine that is replayed to the point that is asked about.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bus::past::{PastError, PastPoint, PastStates};
use bus::{JournalStatus, Reply};
use domain::Query;
use runtime::{PastEngine, RecoveryError};
use storage::StorageError;
use storage::journal::InstanceId;

/// Requests for past states that wait for each other; one more is refused.
pub(crate) const PAST_REQUESTS_MAX: usize = 8;

pub(super) struct PastQueries {
    folder: PathBuf,
    instance: InstanceId,
    engine: Mutex<PastEngine>,
    journal: Arc<dyn JournalStatus>,
    requests: AtomicUsize,
    /// A follower's journal may be cut behind what is proven, and an engine that reads on would have seen what was cut.
    keeps_engine: bool,
}

impl PastQueries {
    pub(super) fn new(folder: PathBuf, instance: InstanceId, journal: Arc<dyn JournalStatus>) -> Self {
        let engine = Mutex::new(PastEngine::new(folder.clone(), instance));
        Self { folder, instance, engine, journal, requests: AtomicUsize::new(0), keeps_engine: true }
    }

    /// Reads anew for each question.
    pub(super) fn of_follower(folder: PathBuf, instance: InstanceId, journal: Arc<dyn JournalStatus>) -> Self {
        Self { keeps_engine: false, ..Self::new(folder, instance, journal) }
    }

    fn read(&self, at: PastPoint, query: &Query) -> Result<Reply, RecoveryError> {
        // A replay that panicked left no engine behind.
        let mut past = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.keeps_engine {
            *past = PastEngine::new(self.folder.clone(), self.instance);
        }
        let sequence = match at {
            PastPoint::Sequence(sequence) => sequence,
            PastPoint::Instant(instant) => past.sequence_at(instant, self.journal.durable())?,
        };
        let (engine, time) = past.at_sequence(sequence)?;
        Ok(Reply { sequence, outcome: engine.answer(time, sequence, query) })
    }
}

fn past_error(problem: RecoveryError) -> PastError {
    match problem {
        RecoveryError::Storage(StorageError::Pruned { .. }) => PastError::Pruned(problem.to_string()),
        other => PastError::Failed(other.to_string()),
    }
}

impl PastStates for PastQueries {
    fn answer(&self, at: PastPoint, query: &Query) -> Result<Reply, PastError> {
        let waiting = self.requests.fetch_add(1, Ordering::Relaxed);
        let outcome = match waiting {
            PAST_REQUESTS_MAX.. => Err(PastError::Busy),
            _ => self.read(at, query).map_err(past_error),
        };
        self.requests.fetch_sub(1, Ordering::Relaxed);
        outcome
    }
}
