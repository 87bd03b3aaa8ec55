//! Archived segments stay part of the journal: they are read, verified, backed up and, after a loss, brought back.

use super::power_cut::after_power_cut;
use super::*;
use crate::tests::recording_disk::RecordingDisk;

pub(super) const RECORDS: u64 = 60;

pub(super) fn text(sequence: u64) -> String {
    format!("order {sequence} {}", "RBLK".repeat(10))
}

/// A journal of ten segments, closed in order.
pub(super) fn traded() -> JournalFixture {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    (1..=RECORDS).for_each(|sequence| append_durable(&mut journal, sequence, &text(sequence)));
    journal.close().unwrap();
    bench
}

pub(super) fn lines(up_to: u64) -> Vec<String> {
    (1..=up_to).map(|sequence| line(sequence, &text(sequence))).collect()
}

pub(super) fn pack(bench: &JournalFixture, keep: usize) -> Archived {
    archive(bench.folder.path(), RECORDS, keep, &mut |_| {}).unwrap()
}

pub(super) fn packed_files(bench: &JournalFixture) -> Vec<PathBuf> {
    segment::list_archive(&bench.journal_folder()).unwrap().into_iter().map(|(_, path)| path).collect()
}

#[test]
fn archived_segments_are_read_and_verified_as_before_and_the_journal_goes_on() {
    let bench = traded();
    let before = bench.report();
    let all = usize::try_from(before.good.segments).unwrap();
    let archived = pack(&bench, 2);
    assert_eq!((archived.segments, packed_files(&bench).len()), (all - 3, all - 3));
    assert_eq!(archived.bytes, 1024 * archived.segments as u64);
    assert_eq!((bench.report(), bench.read()), (before, lines(RECORDS)));
    assert_eq!(pack(&bench, 2), Archived::default(), "once is enough");
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, RECORDS + 1, "goes on");
    journal.close().unwrap();
    assert_eq!(read_from(&bench.journal_folder(), RECORDS).unwrap().len(), 2);
}

#[test]
fn the_segment_that_is_written_is_never_archived() {
    let bench = traded();
    pack(&bench, 0);
    let left = fs::read_dir(bench.journal_folder()).unwrap().map(|entry| entry.unwrap().path());
    let left: Vec<_> = left.filter(|path| path.extension().is_some_and(|end| end == "journal")).collect();
    assert_eq!(left, bench.segments()[bench.segments().len() - 1..]);
    let first = archive(bench.folder.path(), 0, 0, &mut |_| {}).unwrap();
    assert_eq!(first, Archived::default(), "nothing is durable");
}

#[test]
fn a_crash_between_two_steps_leaves_a_whole_journal() {
    let bench = traded();
    let before = bench.report();
    let first = bench.segments().remove(0);
    let bytes = fs::read(&first).unwrap();
    pack(&bench, 0);
    let packed = packed_files(&bench).remove(0);
    // Killed before the segment left the journal: it is in both places.
    fs::write(&first, &bytes).unwrap();
    assert_eq!(bench.report(), before);
    // Killed while it was packed.
    fs::write(packed.with_extension("new"), &bytes[..200]).unwrap();
    fs::remove_file(&packed).unwrap();
    assert_eq!(bench.report(), before);
    assert_eq!(pack(&bench, 0).segments, 1);
    assert_eq!((bench.report(), first.exists()), (before, false));
}

#[test]
fn damage_in_the_archive_is_refused_by_name() {
    let bench = traded();
    pack(&bench, 2);
    let packed = packed_files(&bench);
    let good = fs::read(&packed[1]).unwrap();
    for (name, bytes) in [("cut", good[..good.len() / 2].to_vec()), ("not zstd", b"nothing of ours".to_vec())] {
        fs::write(&packed[1], bytes).unwrap();
        let damage = bench.report().damage.expect(name);
        assert!(damage.file == packed[1] && damage.reason.starts_with("it cannot be unpacked: "), "{name}: {damage}");
        assert!(bench.try_open().is_err(), "{name}");
    }
    fs::write(&packed[1], &good).unwrap();
    fs::rename(&packed[1], packed[1].with_extension("gone")).unwrap();
    let missing = bench.report().damage.expect("a segment is missing");
    assert!(missing.reason.ends_with("but segment 2 is missing before it"), "{missing}");
}

#[test]
fn damage_is_never_archived() {
    let bench = traded();
    let second = bench.segments().remove(1);
    let mut bytes = fs::read(&second).unwrap();
    bytes[300] ^= 1;
    fs::write(&second, bytes).unwrap();
    let refused = bench.text(&archive(bench.folder.path(), RECORDS, 0, &mut |_| {}).unwrap_err());
    assert!(refused.starts_with("journal/") && refused.contains(" is damaged at offset "), "{refused}");
    assert!(second.exists() && packed_files(&bench).len() == 1, "only what is good has left");
}

#[test]
fn a_loss_up_to_an_archived_segment_can_be_accepted() {
    let bench = traded();
    pack(&bench, 2);
    let archived = packed_files(&bench);
    bench.segments()[archived.len()..].iter().for_each(|path| fs::remove_file(path).unwrap());
    assert!(matches!(bench.try_open(), Err(StorageError::Lost(_))));
    let end = bench.report().good.last_sequence;
    let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
    accept_loss(&lock, INSTANCE, end, RECORDS, &bench.folder.path().join("lost")).unwrap();
    let (_, mut journal) = Journal::open_after_loss(&lock, &bench.options).unwrap();
    append_durable(&mut journal, 1000, "after the loss");
    journal.close().unwrap();
    assert_eq!(bench.read(), [lines(end), vec![line(1000, "after the loss")]].concat());
    assert_eq!(bench.report().damage, None);
}

#[test]
fn a_backup_has_archived_segments_too() {
    let bench = traded();
    pack(&bench, 2);
    let backups = tempfile::tempdir().unwrap();
    let (sealed, tail) = (backups.path().join("sealed"), backups.path().join("tail"));
    [&sealed, &tail].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let to = BackupFolders { sealed: &sealed, tail: &tail };
    let copied = back_up(bench.folder.path(), RECORDS, EarlierCopies::default(), to, &mut |_| {}).unwrap();
    let last = copied.segments.len() - 1;
    let place = |(index, segment): (usize, &CopiedSegment)| {
        ((if index == last { &tail } else { &sealed }).join(&segment.file), segment.clone())
    };
    let segments: Vec<_> = copied.segments.iter().enumerate().map(place).collect();
    let target = tempfile::tempdir().unwrap();
    restore(&segments, None, CopyLimit::NONE, target.path(), &mut |_| {}).unwrap();
    assert_eq!(read_from(&target.path().join(FOLDER), 0).unwrap(), lines(RECORDS));
}

/// Each segment is in the journal, in the archive or in both, and the archive goes on where it was cut off.
#[test]
fn after_a_power_cut_at_any_step_of_the_archive_the_journal_has_every_record() {
    const CUTS_PER_STEP: u32 = 4;
    let bench = JournalFixture::new();
    let disk = RecordingDisk::default();
    let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
    let (_, mut journal) = Journal::open_on(Arc::new(disk.clone()), &lock, &bench.options, &mut |_| {}).unwrap();
    (1..=RECORDS).for_each(|sequence| append_durable(&mut journal, sequence, &text(sequence)));
    drop((journal, lock));
    let (texts, begun) = (bench.read(), disk.steps().len());
    let whole = archive_on(&disk, bench.folder.path(), RECORDS, 1, &mut |_| {}).unwrap();
    assert!(whole.segments > 2, "{whole:?}");
    let steps = disk.steps();
    for (cut, seed) in (begun..=steps.len()).flat_map(|cut| (0..CUTS_PER_STEP).map(move |seed| (cut, seed))) {
        let (left, _) = after_power_cut(&steps[..cut], seed);
        assert_eq!(left.read(), texts, "cut {cut}, seed {seed}");
        archive(left.folder.path(), RECORDS, 1, &mut |_| {}).unwrap();
        assert_eq!(left.read(), texts, "cut {cut}, seed {seed}");
        assert_eq!((left.report().damage, packed_files(&left).len()), (None, whole.segments), "cut {cut}, seed {seed}");
    }
}
