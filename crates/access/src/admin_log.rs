//! Port to the journal: records of administration go in, and the state that follows from them comes out.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::admin::{AdminRecord, AdminState};

/// A durable record with its sequence.
pub type DurableAdminRecord = (u64, AdminRecord);

/// Why a record is not there. Whether it is there after a restart is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminLogError(pub String);

impl fmt::Display for AdminLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AdminLogError {}

pub trait AdminLog: Send + Sync {
    /// What follows from all durable records.
    fn state(&self) -> Arc<AdminState>;

    /// Returns the sequence when the record is durable and part of the state. One caller at a time.
    fn append(&self, record: AdminRecord) -> Result<u64, AdminLogError>;

    /// Whether its disk does not answer at the moment.
    fn is_stalled(&self) -> bool {
        false
    }

    /// Whether rows that are appended come into the audit. They do not where this process follows another one, whose rows have these ids.
    fn keeps_audit(&self) -> bool {
        true
    }
}

/// Records that may wait for the reader of a log in memory; it then gets no more.
const FOLLOWED_RECORDS_MAX: usize = 4_096;

/// A log for as long as a process runs: for programs without a journal, such as benchmarks and the simulator.
#[derive(Default)]
pub struct MemoryAdminLog(Mutex<MemoryRecords>);

#[derive(Default)]
struct MemoryRecords {
    state: Arc<AdminState>,
    follower: Option<SyncSender<DurableAdminRecord>>,
}

impl MemoryAdminLog {
    /// Records from now on.
    pub fn follow(&self) -> Receiver<DurableAdminRecord> {
        let (sender, receiver) = sync_channel(FOLLOWED_RECORDS_MAX);
        self.lock().follower = Some(sender);
        receiver
    }

    fn lock(&self) -> MutexGuard<'_, MemoryRecords> {
        // The state is consistent between any two statements that hold the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AdminLog for MemoryAdminLog {
    fn state(&self) -> Arc<AdminState> {
        self.lock().state.clone()
    }

    fn append(&self, record: AdminRecord) -> Result<u64, AdminLogError> {
        let mut records = self.lock();
        let sequence = records.state.last_sequence + 1;
        Arc::make_mut(&mut records.state).apply(sequence, &record);
        if records.follower.as_ref().is_some_and(|follower| follower.try_send((sequence, record)).is_err()) {
            records.follower = None;
        }
        Ok(sequence)
    }
}
