//! What a journal goes on with after its end was lost and given up, and what is asked of it before.

use std::path::Path;

use bus::inbox::inbox;
use bus::ledger::LOSSES;
use domain::command::{AcceptedLoss, Command};
use domain::{Caller, CommandEnvelope, Input, OrderId, Timestamp};
use storage::journal::{InstanceId, JournalBatch};
use storage::{JournalLedger, SnapshotStore, ledger};

use crate::journal_records;
use crate::recovery::{RecoveryError, replay_up_to};

/// So many sequences are left out: prices take numbers that no journal holds, a million at a time.
const SEQUENCES_SKIPPED: u64 = 1_000_000_000;

/// The first batch after a loss. No number that anything knew of is given again, nor any that may have been given behind it.
pub fn go_on_after(loss: AcceptedLoss, known: u64, at: Timestamp) -> JournalBatch {
    let sequence = known + SEQUENCES_SKIPPED;
    let command = Box::new(CommandEnvelope { caller: Caller::platform(), command: Command::AcceptLoss(loss) });
    let told = journal_records::ledger(sequence + 1, ledger::record(LOSSES, sequence, &[]));
    JournalBatch { time: at.0, records: vec![journal_records::input(sequence, &Input::Command(command)), told] }
}

/// The highest order number that a journal knows, without opening it for use.
pub fn last_order(data_folder: &Path, instance: InstanceId, end: u64) -> Result<OrderId, RecoveryError> {
    let snapshots = SnapshotStore::look(data_folder, instance);
    replay_up_to(data_folder, end, &snapshots, &JournalLedger::new(inbox().0)).map(|engine| engine.last_order())
}
