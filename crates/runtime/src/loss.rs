//! What a journal goes on with after its end was lost and given up.

use bus::ledger::LOSSES;
use domain::command::{AcceptedLoss, Command};
use domain::{Caller, CommandEnvelope, Input, Timestamp};
use storage::journal::JournalBatch;
use storage::ledger;

use crate::journal_records;

/// So many sequences are left out: prices take numbers that no journal holds, a million at a time.
const SEQUENCES_SKIPPED: u64 = 1_000_000_000;

/// The first batch after a loss. No number that anything knew of is given again, nor any that may have been given behind it.
pub fn go_on_after(loss: AcceptedLoss, known: u64, at: Timestamp) -> JournalBatch {
    let sequence = known + SEQUENCES_SKIPPED;
    let command = Box::new(CommandEnvelope { caller: Caller::platform(), command: Command::AcceptLoss(loss) });
    let told = journal_records::ledger(sequence + 1, ledger::record(LOSSES, sequence, &[]));
    JournalBatch { time: at.0, records: vec![journal_records::input(sequence, &Input::Command(command)), told] }
}
