//! Catch-up of a read model: events that it missed come from the journal, by the code of a recovery.

use std::path::Path;

use bus::inbox::inbox;
use domain::PublishedEvent;
use storage::journal::{self, InstanceId, JournalReader};
use storage::read_model::{CatchUpStep, MissedEvents};
use storage::{JournalLedger, ReadModel, SnapshotStore};
use tracing::{error, info};

use crate::recovery::{RecoveryError, RecoveryReplay, RecoverySources};

/// Runs until the model is stopped. `durable` says how far the journal may be read.
pub fn keep_caught_up(folder: &Path, instance: InstanceId, model: &ReadModel, durable: &dyn Fn() -> u64) {
    while let Some(missed) = model.wait_behind() {
        let missing_after = missed.after;
        match catch_up(folder, instance, model, missed, durable) {
            Ok(Some(through)) => info!(missing_after, through, "read model has caught up"),
            // The store was lost: it is waited for, and what it lacks then is another part of the journal.
            Ok(None) => info!(missing_after, "catch-up of the read model was interrupted"),
            Err(problem) => {
                error!(%problem, "read model cannot catch up; history is stale until the next start");
                model.fail(format!("the read model cannot catch up: {problem}"));
            }
        }
    }
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
