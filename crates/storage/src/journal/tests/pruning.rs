//! Retention of the archive: what is deleted was verified, is covered and copied, and the chain goes on from the floor.

use super::archives::{RECORDS, lines, pack, packed_files, text, traded};
use super::backups::Backups;
use super::power_cut::after_power_cut;
use super::*;
use crate::tests::recording_disk::RecordingDisk;

const ALL: PruneLimits<'static> =
    PruneLimits { older_than: i64::MAX, bytes_max: u64::MAX, covered: u64::MAX, copies: None };

fn cut_off(bench: &JournalFixture, limits: PruneLimits<'_>) -> Result<Pruned, StorageError> {
    prune(bench.folder.path(), limits, &mut |_| {})
}

/// Ten segments, all but the three newest in the archive.
fn archived() -> JournalFixture {
    let bench = traded();
    pack(&bench, 2);
    bench
}

fn rest(bench: &JournalFixture, floor: u64) -> Vec<String> {
    read_from(&bench.journal_folder(), floor + 1).unwrap()
}

#[test]
fn the_chain_goes_on_from_the_floor_and_what_was_before_is_refused() {
    let bench = archived();
    let (before, packed) = (bench.report().good, packed_files(&bench).len());
    let pruned = cut_off(&bench, ALL).unwrap();
    let floor = pruned.floor.unwrap();
    assert_eq!((pruned.segments, pruned.stop, packed_files(&bench).len()), (packed, None, 0));
    let VerifyReport { good, damage, known } = bench.report();
    assert_eq!((good.head, good.last_sequence, good.floor), (before.head, RECORDS, Some(floor)));
    assert_eq!((good.first_sequence, damage, known), (Some(floor.sequence + 1), None, vec![]));
    assert_eq!(rest(&bench, floor.sequence), lines(RECORDS)[usize::try_from(floor.sequence).unwrap()..]);
    for from in [0, 1, floor.sequence] {
        let refused = read_from(&bench.journal_folder(), from).unwrap_err();
        assert!(matches!(refused, StorageError::Pruned { floor: at } if at == floor.sequence), "{refused}");
    }
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, RECORDS + 1, "goes on");
    journal.close().unwrap();
    assert_eq!(rest(&bench, RECORDS), [line(RECORDS + 1, "goes on")]);
    let shown = bench.report().to_string();
    let expected = format!("floor           {}, older segments were verified and deleted", floor.sequence);
    assert!(shown.contains(&expected), "{shown}");
    assert_eq!(cut_off(&bench, ALL).unwrap(), Pruned { floor: Some(floor), ..Pruned::default() }, "once is enough");
}

#[test]
fn age_and_size_decide_what_goes() {
    let bench = archived();
    let sizes: Vec<u64> = packed_files(&bench).iter().map(|path| fs::metadata(path).unwrap().len()).collect();
    let none = PruneLimits { older_than: i64::MIN, ..ALL };
    assert_eq!(cut_off(&bench, none).unwrap(), Pruned::default(), "no limit");
    let all_but_one = PruneLimits { bytes_max: sizes.iter().sum::<u64>() - 1, ..none };
    let by_size = cut_off(&bench, all_but_one).unwrap();
    assert_eq!((by_size.segments, by_size.bytes), (1, sizes[0]));
    // The record that is dated so is kept, and so is the segment that it stands in.
    let kept = by_size.floor.unwrap().sequence + 9;
    let by_age = cut_off(&bench, PruneLimits { older_than: i64::try_from(kept).unwrap() * 1000, ..ALL }).unwrap();
    let floor = by_age.floor.unwrap().sequence;
    assert!(by_age.segments > 0 && floor < kept && floor + 9 > kept, "{by_age:?}");
    assert_eq!(rest(&bench, floor).len() as u64, RECORDS - floor);
}

#[test]
fn nothing_goes_that_is_not_covered_not_copied_or_not_packed() {
    let bench = archived();
    let second = segment::list(&bench.journal_folder()).unwrap()[1].0;
    let uncovered = cut_off(&bench, PruneLimits { covered: second - 2, ..ALL }).unwrap();
    assert_eq!((uncovered.segments, uncovered.stop), (0, Some(PruneStop::NotCovered { last: second - 1 })));
    let covered = cut_off(&bench, PruneLimits { covered: second, copies: Some(&[]), ..ALL }).unwrap();
    assert_eq!((covered.segments, covered.stop), (0, Some(PruneStop::NotCopied { last: second - 1 })));
    assert_eq!((bench.report().damage, bench.read()), (None, lines(RECORDS)));
    let unpacked = traded();
    assert_eq!(cut_off(&unpacked, ALL).unwrap(), Pruned::default(), "nothing is in the archive");
}

#[test]
fn damage_keeps_the_whole_archive() {
    let bench = archived();
    let files = packed_files(&bench);
    let good = fs::read(&files[2]).unwrap();
    fs::write(&files[2], &good[..good.len() / 2]).unwrap();
    let refused = bench.text(&cut_off(&bench, ALL).unwrap_err());
    assert!(refused.contains("it cannot be unpacked"), "{refused}");
    assert_eq!((packed_files(&bench), read_floor(&bench.journal_folder()).unwrap()), (files.clone(), None));
    fs::write(&files[2], &good).unwrap();
    assert_eq!(cut_off(&bench, ALL).unwrap().segments, files.len());
}

#[test]
fn a_floor_that_is_damaged_or_gone_is_refused_by_name() {
    let bench = archived();
    cut_off(&bench, ALL).unwrap();
    let path = bench.folder.path().join(ARCHIVE).join(FLOOR_FILE);
    let good = fs::read(&path).unwrap();
    let mut bad = good.clone();
    bad[40] ^= 1;
    fs::write(&path, bad).unwrap();
    let refused = bench.text(&bench.try_open().err().unwrap());
    assert!(refused.starts_with("archive/floor is damaged at offset 0: the checksum does not match"), "{refused}");
    fs::remove_file(&path).unwrap();
    let missing = bench.text(&bench.try_open().err().unwrap());
    assert!(missing.contains("but segment 1 is missing before it"), "{missing}");
    fs::write(&path, &good).unwrap();
    bench.open();
}

#[test]
fn a_backup_keeps_what_the_archive_has_deleted() {
    let bench = archived();
    let mut backups = Backups::new();
    backups.add(&bench, false);
    let pruned = cut_off(&bench, PruneLimits { copies: Some(&backups.sealed()), ..ALL }).unwrap();
    assert!(pruned.segments > 2 && pruned.stop.is_none(), "{pruned:?}");
    for is_read_again in [false, true] {
        backups.add(&bench, is_read_again);
        assert_eq!(backups.newest.as_ref().unwrap().floor, None);
        assert_eq!(backups.restored().read(), lines(RECORDS));
    }
}

#[test]
fn a_first_backup_of_a_pruned_journal_begins_at_its_floor_and_stays_there() {
    let bench = archived();
    let half = PruneLimits { older_than: 20_000, ..ALL };
    let floor = cut_off(&bench, half).unwrap().floor.unwrap();
    let mut backups = Backups::new();
    backups.add(&bench, false);
    let later = cut_off(&bench, PruneLimits { copies: Some(&backups.sealed()), ..ALL }).unwrap().floor.unwrap();
    assert!(later.sequence > floor.sequence);
    backups.add(&bench, true);
    assert_eq!(backups.newest.as_ref().unwrap().floor, Some(floor), "it has more than the archive");
    let target = backups.restored();
    assert_eq!(target.report().good.floor, Some(floor));
    assert_eq!(rest(&target, floor.sequence), lines(RECORDS)[usize::try_from(floor.sequence).unwrap()..]);
}

/// Prunes at the first call.
fn once(bench: &JournalFixture) -> impl FnMut() + '_ {
    let mut is_due = true;
    move || {
        if std::mem::replace(&mut is_due, false) {
            assert!(cut_off(bench, ALL).unwrap().segments > 2);
        }
    }
}

#[test]
fn a_prune_while_the_journal_is_verified_is_no_damage() {
    let bench = archived();
    let mut prune = once(&bench);
    let VerifyReport { good, damage, known } = verify(&bench.journal_folder(), &mut |_| prune()).unwrap();
    let floor = read_floor(&bench.journal_folder()).unwrap();
    assert_eq!((damage, known, good.floor, good.last_sequence), (None, vec![], floor, RECORDS));
    assert_eq!(good.first_sequence, floor.map(|floor| floor.sequence + 1));
    assert_eq!(good.records, RECORDS - floor.unwrap().sequence, "none is counted twice");
}

/// Without an earlier backup nothing has the deleted segments any more: the copy begins at the floor and says so, so that it is
/// taken together with the snapshot and the ids of retired orders.
#[test]
fn a_backup_under_which_segments_are_pruned_begins_at_the_floor() {
    let bench = archived();
    let mut backups = Backups::new();
    backups.add_while(&bench, &mut once(&bench));
    let floor = read_floor(&bench.journal_folder()).unwrap().unwrap();
    assert_eq!(backups.newest.as_ref().unwrap().floor, Some(floor));
    assert_eq!(rest(&backups.restored(), floor.sequence), lines(RECORDS)[usize::try_from(floor.sequence).unwrap()..]);
}

#[test]
fn a_copy_that_is_damaged_is_none() {
    let bench = archived();
    let mut backups = Backups::new();
    backups.add(&bench, false);
    let (path, _) = backups.sealed().remove(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes[300] ^= 1;
    fs::write(&path, bytes).unwrap();
    let outcome = cut_off(&bench, PruneLimits { copies: Some(&backups.sealed()), ..ALL }).unwrap();
    assert!(matches!(outcome.stop, Some(PruneStop::NotCopied { .. })) && outcome.segments == 0, "{outcome:?}");
    assert_eq!(bench.read(), lines(RECORDS));
}

#[test]
fn after_all_behind_the_floor_is_lost_the_journal_goes_on_from_the_floor() {
    let bench = archived();
    let floor = cut_off(&bench, ALL).unwrap().floor.unwrap();
    bench.segments().iter().for_each(|path| fs::remove_file(path).unwrap());
    assert!(matches!(bench.try_open(), Err(StorageError::Lost(_))));
    let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
    accept_loss(&lock, INSTANCE, floor.sequence, RECORDS, &bench.folder.path().join("lost")).unwrap();
    let (_, mut journal) = Journal::open_after_loss(&lock, &bench.options).unwrap();
    append_durable(&mut journal, 1000, "after the loss");
    journal.close().unwrap();
    assert_eq!((bench.report().damage, rest(&bench, floor.sequence)), (None, vec![line(1000, "after the loss")]));
}

/// The floor is on the disk before anything goes: whatever is left, the journal is good from its beginning or from the floor on.
#[test]
fn after_a_power_cut_at_any_step_the_journal_begins_at_its_beginning_or_at_the_floor() {
    const CUTS_PER_STEP: u32 = 4;
    let bench = JournalFixture::new();
    let disk = RecordingDisk::default();
    let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
    let (_, mut journal) = Journal::open_on(Arc::new(disk.clone()), &lock, &bench.options, &mut |_| {}).unwrap();
    (1..=RECORDS).for_each(|sequence| append_durable(&mut journal, sequence, &text(sequence)));
    drop((journal, lock));
    archive_on(&disk, bench.folder.path(), RECORDS, 1, &mut |_| {}).unwrap();
    let begun = disk.steps().len();
    let whole = prune_on(&disk, bench.folder.path(), ALL, &mut |_| {}).unwrap();
    let floor = whole.floor.unwrap();
    let steps = disk.steps();
    let (mut before, mut after) = (0, 0);
    for (cut, seed) in (begun..=steps.len()).flat_map(|cut| (0..CUTS_PER_STEP).map(move |seed| (cut, seed))) {
        let (left, _) = after_power_cut(&steps[..cut], seed);
        let found = read_floor(&left.journal_folder()).unwrap();
        assert!(found.is_none() || found == Some(floor), "cut {cut}, seed {seed}: {found:?}");
        let from = found.map_or(0, |floor| floor.sequence);
        assert_eq!(rest(&left, from), lines(RECORDS)[usize::try_from(from).unwrap()..], "cut {cut}, seed {seed}");
        assert_eq!(left.report().damage, None, "cut {cut}, seed {seed}");
        cut_off(&left, ALL).unwrap();
        assert_eq!((packed_files(&left), left.report().good.floor), (vec![], Some(floor)), "cut {cut}, seed {seed}");
        *(if found.is_none() { &mut before } else { &mut after }) += 1;
    }
    assert!(before > 0 && after > 0, "{before} before the floor, {after} after");
}
