//! Catch-up of a read model: events that it missed come from the journal, by the code of a recovery.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use bus::inbox::inbox;
use domain::PublishedEvent;
use storage::journal::{self, InstanceId, JournalReader};
use storage::read_model::{CatchUpStep, MissedEvents};
use storage::{JournalLedger, ReadModel, SnapshotStore, StorageError};
use tracing::{error, info, warn};

use crate::recovery::{RecoveryError, RecoveryReplay, RecoverySources};

/// A catch-up that meets a missing file begins anew, at most so often without having come further; then history is stale until the next
/// start.
pub const CATCH_UP_ATTEMPTS_MAX: u32 = 10;
/// Before it begins anew.
const CATCH_UP_PAUSE: Duration = Duration::from_millis(100);

/// Runs until the model is stopped. `durable` says how far the journal may be read.
pub fn keep_caught_up(folder: &Path, instance: InstanceId, model: &ReadModel, durable: &dyn Fn() -> u64) {
    let mut attempts = CatchUpAttempts::default();
    while let Some(missed) = model.wait_behind() {
        let missing_after = missed.after;
        match catch_up(folder, instance, model, missed, durable) {
            Ok(Some(through)) => info!(missing_after, through, "read model has caught up"),
            // The store was lost: it is waited for, and what it lacks then is another part of the journal.
            Ok(None) => info!(missing_after, "catch-up of the read model was interrupted"),
            // Segments are archived and snapshots are deleted beside it: what it reads is elsewhere now, or it begins further back.
            Err(problem) if is_file_missing(&problem) && attempts.has_another(missing_after) => {
                warn!(%problem, missing_after, "catch-up of the read model begins anew");
                thread::sleep(CATCH_UP_PAUSE);
            }
            Err(problem) => {
                error!(%problem, "read model cannot catch up; history is stale until the next start");
                model.fail(format!("the read model cannot catch up: {problem}"));
            }
        }
    }
}

/// Counts attempts that begin at the same sequence.
#[derive(Default)]
struct CatchUpAttempts {
    missing_after: u64,
    count: u32,
}

impl CatchUpAttempts {
    fn has_another(&mut self, missing_after: u64) -> bool {
        let before = if missing_after == self.missing_after { self.count } else { 0 };
        *self = Self { missing_after, count: before + 1 };
        self.count < CATCH_UP_ATTEMPTS_MAX
    }
}

fn is_file_missing(problem: &RecoveryError) -> bool {
    matches!(problem, RecoveryError::Storage(StorageError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound)
}

/// Returns the sequence up to which the journal was read; none where it was interrupted.
fn catch_up(
    folder: &Path,
    instance: InstanceId,
    model: &ReadModel,
    missed: MissedEvents,
    durable: &dyn Fn() -> u64,
) -> Result<Option<u64>, RecoveryError> {
    let (snapshots, ledger) = (SnapshotStore::look(folder, instance), JournalLedger::new(inbox().0));
    let last_sequence = durable();
    let sources = RecoverySources { folder, last_sequence, snapshots: &snapshots, ledger: &ledger, retired: None };
    // Where it is refused, the catch-up is over, which is asked for each record: the first that are read may be long before the missed ones.
    let mut append = |through: u64, events: &[PublishedEvent]| {
        let _ = model.append_missed(missed, through, events);
    };
    let mut replay = RecoveryReplay::begin(&sources, missed.after, &mut append)?;
    let mut source = JournalReader::open(&folder.join(journal::FOLDER), replay.snapshot() + 1)?;
    loop {
        // Read before the journal is: what is durable now was offered, or will be after the model takes events again.
        let limit = durable();
        while model.is_wanted(missed) {
            let Some(entry) = source.read_to(limit)? else { break };
            replay.on_record(&entry)?;
        }
        match model.rejoin(missed, limit) {
            CatchUpStep::Complete => return Ok(Some(limit)),
            CatchUpStep::Interrupted => return Ok(None),
            CatchUpStep::Incomplete => {}
        }
    }
}
