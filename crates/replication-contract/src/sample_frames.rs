//! Frames for the rules, from real journals.

use std::sync::OnceLock;

use storage::journal::{
    FOLDER, InstanceId, Journal, JournalBatch, JournalOptions, JournalReader, JournalRecord, SealedFrame, SyncMode,
};
use storage::lock::DataDirLock;

pub const INSTANCE: InstanceId = InstanceId([0x11; 16]);
pub const OTHER_INSTANCE: InstanceId = InstanceId([0x22; 16]);

/// So small that a few frames fill a segment.
const SEGMENT_BYTES: u64 = 1024;
const FRAMES: u64 = 24;
/// The frame, counted from 0, with which the fork begins.
pub const FORK_AT: usize = 2;

/// The journal of the rules: one chain over several segments.
pub fn frames() -> &'static [SealedFrame] {
    static CELL: OnceLock<Vec<SealedFrame>> = OnceLock::new();
    CELL.get_or_init(|| record(INSTANCE, |number| format!("order {number}")))
}

/// The same journal, but with other orders from [`FORK_AT`] on.
pub fn forked_frames() -> &'static [SealedFrame] {
    static CELL: OnceLock<Vec<SealedFrame>> = OnceLock::new();
    let text = |number: u64| {
        let is_common = usize::try_from(number).is_ok_and(|number| number <= FORK_AT);
        if is_common { format!("order {number}") } else { format!("other {number}") }
    };
    CELL.get_or_init(|| record(INSTANCE, text))
}

/// A journal with a frame for each number.
fn record(instance: InstanceId, text: impl Fn(u64) -> String) -> Vec<SealedFrame> {
    let folder = tempfile::tempdir().expect("there is room for a temporary folder");
    let options = JournalOptions { segment_bytes: SEGMENT_BYTES, sync: SyncMode::Os, ..JournalOptions::new(instance) };
    let lock = DataDirLock::acquire(folder.path()).expect("the folder is new");
    let inspected = Journal::inspect(&lock, &options, &mut |_| {}).expect("the folder is empty");
    let (_, mut journal, mut worker) = inspected.open_by_hand().expect("a journal can be begun");
    for number in 1..=FRAMES {
        let record = JournalRecord { sequence: number * 3, kind: 1, payload: text(number).into_bytes() };
        let time = i64::try_from(number).expect("few frames");
        journal.append(JournalBatch { time, records: vec![record] }).expect("the queue has room");
        worker.commit();
    }
    let mut reader = JournalReader::open(&folder.path().join(FOLDER), 0).expect("the journal was written");
    std::iter::from_fn(|| reader.next_sealed().expect("the journal is good")).collect()
}
