//! A power cut after any step of the writer. Synced data is there; of written data any sectors may be. In every case
//! all data reported durable is recovered, and the journal opens without repair.

use super::*;
use crate::tests::recording_disk::{DiskAfterCut, DiskOperation, RecordingDisk};

const CUTS_PER_STEP: u32 = 6;

#[test]
fn after_any_power_cut_nothing_that_was_reported_durable_is_lost() {
    let bench = JournalFixture::new();
    let disk = Arc::new(RecordingDisk::default());
    let mut texts = Vec::new();
    for _session in 0..2 {
        let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
        let (found, mut journal) = Journal::open_on(disk.clone(), &lock, &bench.options, &mut |_| {}).unwrap();
        for sequence in found.last_sequence + 1..found.last_sequence + 10 {
            let text = format!("order {sequence} {}", "long ".repeat(texts.len() * 3));
            append_durable(&mut journal, sequence, &text);
            disk.note(DiskOperation::Told(sequence));
            texts.push(line(sequence, &text));
        }
    }
    let steps = disk.steps();
    let mut torn = 0;
    for (cut, seed) in (0..=steps.len()).flat_map(|cut| (0..CUTS_PER_STEP).map(move |seed| (cut, seed))) {
        let (left, told) = after_power_cut(&steps[..cut], seed);
        let (found, _journal) = left.open();
        assert!(found.last_sequence >= told, "cut {cut}, seed {seed}: {found:?}");
        assert_eq!(left.read(), texts[..usize::try_from(found.last_sequence).unwrap()], "cut {cut}, seed {seed}");
        torn += usize::from(found.torn.is_some());
    }
    assert!(torn > 0, "no cut has torn a frame: the test does not test");
}

/// After a failed sync an operating system shows what was written and takes it for synced, whatever the disk has.
#[test]
fn frames_that_a_failed_sync_left_are_written_again_before_they_count() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 1, "kept");
    bench.disk.0.sync_fails.store(true, Ordering::SeqCst);
    journal.append(batch(2, "in the memory of the machine")).unwrap();
    wait_failed(&journal);
    drop(journal);
    let path = bench.segments().remove(0);
    let shown = fs::read(&path).unwrap();
    let disk = RecordingDisk::default();
    for name in [path.clone(), bench.journal_folder().join("head"), bench.journal_folder().join("next.ready")] {
        disk.know(name);
    }
    let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
    let (found, _journal) = Journal::open_on(Arc::new(disk.clone()), &lock, &bench.options, &mut |_| {}).unwrap();
    assert_eq!(found.last_sequence, 2, "it was written, so it may count");
    let steps = disk.steps();
    let is_second = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("in the memory of the machine");
    let rewritten = steps.iter().find_map(|step| match step {
        DiskOperation::Write { offset, bytes, .. } if is_second(bytes) => Some((*offset, bytes.clone())),
        _ => None,
    });
    let (offset, bytes) = rewritten.expect("the frame is written again");
    let start = usize::try_from(offset).unwrap();
    assert_eq!(bytes, shown[start..start + bytes.len()], "byte by byte as it was");
}

/// A new fixture with the remaining files, and the last sequence that was reported durable.
pub(super) fn after_power_cut(steps: &[DiskOperation], seed: u32) -> (JournalFixture, u64) {
    let mut platter = DiskAfterCut::default();
    let mut told = 0;
    for step in steps {
        match step {
            DiskOperation::Told(sequence) => told = *sequence,
            other => platter.apply(other),
        }
    }
    let left = JournalFixture::new();
    fs::create_dir_all(left.journal_folder()).unwrap();
    for (path, bytes) in platter.switch_off(seed) {
        // Of the journal, or of the archive beside it.
        let folder = left.folder.path().join(path.parent().unwrap().file_name().unwrap());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(path.file_name().unwrap()), bytes).unwrap();
    }
    (left, told)
}
