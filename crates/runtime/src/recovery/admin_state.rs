//! Users and tokens of a data folder that no server holds, without its engine.

use std::path::Path;
use std::sync::Arc;

use bus::inbox::inbox;
use domain::Timestamp;
use domain::admin::{AdminRecord, AdminState};
use storage::journal::{self, InstanceId, JournalBatch, JournalReader};
use storage::ledger::admin_record;
use storage::{JournalLedger, SnapshotStore};

use crate::journal_records::{self, UnreadableRecord};
use crate::recovery::RecoveryError;

/// What a record of administration goes on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAt {
    pub state: Arc<AdminState>,
    /// The next number that was not given to anything.
    pub next_sequence: u64,
}

/// As it was after a record.
pub fn admin_at(data_folder: &Path, instance: InstanceId, end: u64) -> Result<AdminAt, RecoveryError> {
    let ledger = JournalLedger::new(inbox().0);
    let (snapshot, mut reserved) = load_snapshot(data_folder, instance, end, &ledger)?;
    let mut source = JournalReader::open(&data_folder.join(journal::FOLDER), snapshot + 1)?;
    while let Some(entry) = source.read_to(end)? {
        let sequence = entry.sequence;
        let unreadable = |reason: String| RecoveryError::Unreadable { sequence, reason };
        match entry.kind {
            journal_records::LEDGER => ledger.apply(sequence, entry.payload).map_err(unreadable)?,
            journal_records::RESERVATION => {
                let up_to = journal_records::decode_reservation(entry.payload);
                reserved = reserved.max(up_to.map_err(|UnreadableRecord(reason)| unreadable(reason))?);
            }
            _ => {}
        }
    }
    Ok(AdminAt { state: ledger.admin(), next_sequence: end.max(reserved) + 1 })
}

/// The sequence of the newest snapshot that this build can read, 0 where there is none, and what is reserved there.
fn load_snapshot(
    data_folder: &Path,
    instance: InstanceId,
    end: u64,
    ledger: &JournalLedger,
) -> Result<(u64, u64), RecoveryError> {
    let Some(snapshot) = SnapshotStore::look(data_folder, instance).latest_valid(Some(end))? else {
        return Ok((0, 0));
    };
    let loaded = journal_records::decode_snapshot(&snapshot.state)
        .ok()
        .and_then(|parts| ledger.import(parts.ledger).ok().map(|()| parts.reserved));
    Ok(loaded.map_or((0, 0), |reserved| (snapshot.sequence, reserved)))
}

/// A record of administration, for the journal of a folder that no server holds.
pub fn admin_batch(sequence: u64, record: AdminRecord, at: Timestamp) -> JournalBatch {
    JournalBatch { time: at.0, records: vec![journal_records::ledger(sequence, admin_record(record))] }
}
