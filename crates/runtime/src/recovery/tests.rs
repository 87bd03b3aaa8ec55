use domain::command::CancelOrder;
use storage::journal::{Journal, JournalOptions, JournalRecord};
use storage::lock::DataDirLock;
use tempfile::TempDir;

use super::*;

const INSTANCE: InstanceId = InstanceId(*b"a replay by part");

/// A cancel of an order that is not there: an input with an event.
fn record(sequence: u64) -> JournalRecord {
    let command = Command::Cancel(CancelOrder::new(format!("A-{sequence}").parse().unwrap()));
    let envelope = CommandEnvelope { caller: Caller::platform(), command };
    journal_records::input(sequence, &Input::Command(Box::new(envelope)))
}

/// A journal with a batch for each of these sequences.
fn journal_with(last: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lock = DataDirLock::acquire(folder.path()).unwrap();
    let options = JournalOptions { segment_bytes: 1 << 20, ..JournalOptions::new(INSTANCE) };
    let (_, mut journal) = Journal::open(&lock, &options, &mut |_| {}).unwrap();
    for sequence in 1..=last {
        let batch = JournalBatch { time: 1_000 + i64::try_from(sequence).unwrap(), records: vec![record(sequence)] };
        journal.append(batch).unwrap();
    }
    journal.close().unwrap();
    folder
}

/// The state after each of these bounds in turn, as a reader of a journal that is being written comes to it.
fn replay_by_part(folder: &Path, bounds: &[u64]) -> RecoveredState {
    let snapshots = SnapshotStore::look(folder, INSTANCE);
    let ledger = JournalLedger::new(inbox().0);
    let start = (Engine::default(), RecoveredState::at_the_beginning());
    let reached = bounds.iter().fold(start, |before, &last_sequence| {
        let sources = RecoverySources { folder, last_sequence, snapshots: &snapshots, ledger: &ledger, retired: None };
        recover_further(before, &sources, &mut |_, _| {}).unwrap()
    });
    reached.1
}

#[test]
fn what_is_behind_the_bound_is_applied_by_the_next_call_and_only_then() {
    let folder = journal_with(5);
    let by_part = replay_by_part(folder.path(), &[2, 2, 3, 5]);
    let at_once = replay_by_part(folder.path(), &[5]);
    assert_eq!((by_part.replayed, by_part.last_sequence, by_part.at), (5, 5, Timestamp(1_005)));
    assert_eq!((by_part.replayed, by_part.at), (at_once.replayed, at_once.at));
    assert_eq!(by_part.digest, at_once.digest);
    let bounded = replay_by_part(folder.path(), &[2]);
    assert_eq!((bounded.replayed, bounded.last_sequence, bounded.at), (2, 2, Timestamp(1_002)));
}
