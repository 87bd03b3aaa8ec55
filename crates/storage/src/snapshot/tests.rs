//! Snapshots during trading; whatever happens to the files, a start never loads a wrong state.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::file_system::WritableFile;
use crate::tests::recording_disk::{DiskAfterCut, RecordingDisk};
use tempfile::TempDir;

const INSTANCE: InstanceId = InstanceId(*b"the test journal");
const BUILD: &str = "rialto 0.1.0";

struct SnapshotFixture {
    folder: TempDir,
}

impl SnapshotFixture {
    /// Two snapshots, at 100 and at 200.
    fn with_two_snapshots() -> Self {
        let fixture = Self { folder: tempfile::tempdir().unwrap() };
        let snapshots = fixture.open();
        snapshots.write(100, b"long 100 AAPL", BUILD).unwrap();
        snapshots.write(200, b"long 250 AAPL", BUILD).unwrap();
        fixture
    }

    fn open(&self) -> SnapshotStore {
        self.open_as(INSTANCE)
    }

    fn open_as(&self, instance: InstanceId) -> SnapshotStore {
        SnapshotStore::open(&DataDirLock::acquire(self.folder.path()).unwrap(), instance).unwrap()
    }

    fn path(&self, sequence: u64) -> PathBuf {
        self.folder.path().join(FOLDER).join(file_name(sequence, EXTENSION))
    }

    fn files(&self) -> Vec<String> {
        let listed = fs::read_dir(self.folder.path().join(FOLDER)).unwrap();
        let mut names: Vec<_> = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn at_100() -> StoredSnapshot {
    let state = b"long 100 AAPL".to_vec();
    StoredSnapshot { sequence: 100, digest: digest(&state), state, build: BUILD.to_owned() }
}

fn at_200() -> StoredSnapshot {
    let state = b"long 250 AAPL".to_vec();
    StoredSnapshot { sequence: 200, digest: digest(&state), state, build: BUILD.to_owned() }
}

#[test]
fn the_newest_snapshot_is_found_again() {
    let fixture = SnapshotFixture::with_two_snapshots();
    assert_eq!(fixture.open().latest_valid(None).unwrap(), Some(at_200()));
}

#[test]
fn a_start_without_snapshots_begins_with_the_journal() {
    let fixture = SnapshotFixture { folder: tempfile::tempdir().unwrap() };
    assert_eq!(fixture.open().latest_valid(None).unwrap(), None);
}

#[test]
fn only_snapshots_up_to_the_wanted_sequence_are_taken() {
    let snapshots = SnapshotFixture::with_two_snapshots();
    let newest = |up_to| snapshots.open().latest_valid(Some(up_to)).unwrap().map(|snapshot| snapshot.sequence);
    assert_eq!([99, 100, 199, 200, u64::MAX].map(newest), [None, Some(100), Some(100), Some(200), Some(200)]);
}

#[test]
fn two_are_kept_and_the_older_is_deleted_after_the_new_one_is_there() {
    let fixture = SnapshotFixture::with_two_snapshots();
    fixture.open().write(300, b"flat", BUILD).unwrap();
    assert_eq!(fixture.files(), [file_name(200, EXTENSION), file_name(300, EXTENSION)]);
}

#[test]
fn a_snapshot_beyond_the_end_of_a_shortened_journal_is_replaced_by_the_new_one() {
    let fixture = SnapshotFixture::with_two_snapshots();
    fixture.open().write(150, b"flat", BUILD).unwrap();
    assert_eq!(fixture.files(), [file_name(100, EXTENSION), file_name(150, EXTENSION)]);
}

#[test]
fn a_snapshot_that_was_cut_off_has_no_name_and_is_cleared_away() {
    let fixture = SnapshotFixture::with_two_snapshots();
    let unfinished = fixture.folder.path().join(FOLDER).join(file_name(300, UNFINISHED_EXTENSION));
    fs::write(unfinished, b"half a sna").unwrap();
    assert_eq!(fixture.open().latest_valid(None).unwrap(), Some(at_200()));
    assert_eq!(fixture.files(), [file_name(100, EXTENSION), file_name(200, EXTENSION)]);
}

#[test]
fn after_every_truncation_the_older_one_is_taken_and_the_file_is_named() {
    let fixture = SnapshotFixture::with_two_snapshots();
    let good = fs::read(fixture.path(200)).unwrap();
    for length in 0..good.len() {
        fs::write(fixture.path(200), &good[..length]).unwrap();
        let (found, damaged) = fixture.open().search(None).unwrap();
        let reason = match length.checked_sub(HEADER_BYTES) {
            None => "it is shorter than the header of a snapshot".to_owned(),
            Some(state) => format!("it holds {state} bytes of state instead of 13"),
        };
        let offset = if length < HEADER_BYTES { 0 } else { HEADER_BYTES as u64 };
        assert_eq!((found, damaged), (Some(at_100()), vec![Damage { file: fixture.path(200), offset, reason }]));
    }
    fs::write(fixture.path(200), [good.as_slice(), b"x"].concat()).unwrap();
    assert_eq!(fixture.open().latest_valid(None).unwrap(), Some(at_100()), "nor with one byte too many");
}

#[test]
fn no_flipped_bit_passes() {
    let fixture = SnapshotFixture::with_two_snapshots();
    let good = fs::read(fixture.path(200)).unwrap();
    let snapshots = fixture.open();
    for (at, bit) in (0..good.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << bit;
        let (offset, _) = snapshots.check(200, &bytes).unwrap_err();
        assert_eq!(offset, if at < HEADER_BYTES { 0 } else { HEADER_BYTES }, "byte {at} bit {bit}");
    }
    assert_eq!(snapshots.check(200, &good), Ok(at_200()));
}

#[test]
fn when_both_are_damaged_there_is_none_and_both_are_named() {
    let fixture = SnapshotFixture::with_two_snapshots();
    let mut bytes = fs::read(fixture.path(100)).unwrap();
    bytes[HEADER_BYTES + 5] ^= 1;
    fs::write(fixture.path(100), bytes).unwrap();
    fs::write(fixture.path(200), b"something else").unwrap();
    let (found, damaged) = fixture.open().search(None).unwrap();
    let short =
        Damage { file: fixture.path(200), offset: 0, reason: "it is shorter than the header of a snapshot".to_owned() };
    let changed = Damage {
        file: fixture.path(100),
        offset: HEADER_BYTES as u64,
        reason: "the digest of the state does not match".to_owned(),
    };
    assert_eq!((found, damaged), (None, vec![short, changed]));
}

#[test]
fn a_snapshot_of_another_instance_or_under_a_wrong_name_is_refused() {
    let fixture = SnapshotFixture::with_two_snapshots();
    fs::rename(fixture.path(200), fixture.path(201)).unwrap();
    let (found, damaged) = fixture.open().search(None).unwrap();
    let reasons: Vec<_> = damaged.into_iter().map(|damage| damage.reason).collect();
    assert_eq!(
        (found, reasons[0].as_str()),
        (Some(at_100()), "the file is named for another sequence than its header, 200")
    );

    let (found, damaged) = fixture.open_as(InstanceId([7; 16])).search(Some(100)).unwrap();
    let reason = "it belongs to instance 7468652074657374206a6f75726e616c, not 07070707070707070707070707070707";
    assert_eq!((found, damaged[0].reason.as_str()), (None, reason));
}

#[test]
fn a_build_name_that_does_not_fit_is_refused_before_anything_is_written() {
    let fixture = SnapshotFixture::with_two_snapshots();
    let refused = fixture.open().write(300, b"flat", &"x".repeat(BUILD_BYTES_MAX + 1)).unwrap_err().to_string();
    assert_eq!(refused, "build: must be at most 67 bytes without a zero");
    assert_eq!(fixture.files().len(), 2);
}

/// Real files, but syncs can fail.
#[derive(Default)]
struct FailingDisk {
    sync_fails: AtomicBool,
}

struct FailingMedium(Box<dyn WritableFile>);

impl WritableFile for FailingMedium {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(5))
    }
}

impl FileSystem for FailingDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let medium = OsFileSystem.create(path)?;
        Ok(if self.sync_fails.load(Ordering::SeqCst) { Box::new(FailingMedium(medium)) } else { medium })
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        OsFileSystem.open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsFileSystem.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        OsFileSystem.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        OsFileSystem.sync_folder(folder)
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        OsFileSystem.truncate(path, length)
    }
}

#[test]
fn a_snapshot_whose_sync_failed_is_not_one_and_the_two_before_it_stay() {
    let fixture = SnapshotFixture::with_two_snapshots();
    let disk = Arc::new(FailingDisk::default());
    let lock = DataDirLock::acquire(fixture.folder.path()).unwrap();
    let snapshots = SnapshotStore::open_on(disk.clone(), &lock, INSTANCE).unwrap();
    disk.sync_fails.store(true, Ordering::SeqCst);
    let failed = snapshots.write(300, b"flat", BUILD).unwrap_err().to_string();
    let unfinished = fixture.folder.path().join(FOLDER).join(file_name(300, UNFINISHED_EXTENSION));
    assert_eq!(failed, format!("cannot write {}: Input/output error (os error 5)", unfinished.display()));
    assert_eq!(snapshots.latest_valid(None).unwrap(), Some(at_200()));
    assert!(fixture.path(100).exists());
}

#[test]
fn the_snapshot_that_a_reader_needs_is_kept_until_the_reader_is_beyond_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let lock = DataDirLock::acquire(folder.path()).unwrap();
    let reached = Arc::new(std::sync::atomic::AtomicU64::new(15));
    let needed = reached.clone();
    let snapshots = SnapshotStore::open(&lock, InstanceId([7; 16])).unwrap();
    let snapshots = snapshots.keep_for(move || Some(needed.load(Ordering::Relaxed)));
    let kept = |written: u64| -> Vec<u64> {
        snapshots.write(written, b"state", "test").unwrap();
        snapshots.list(EXTENSION).unwrap().into_iter().map(|(sequence, _)| sequence).collect()
    };
    assert_eq!([kept(10), kept(20), kept(30), kept(40)], [vec![10], vec![10, 20], vec![10, 20, 30], vec![10, 30, 40]]);
    reached.store(35, Ordering::Relaxed);
    assert_eq!(kept(50), [30, 40, 50]);
    reached.store(50, Ordering::Relaxed);
    assert_eq!(kept(60), [50, 60]);
}

/// A snapshot that was there is there, whole, after a power cut at any step of the next ones; so is one that was reported written.
#[test]
fn after_a_power_cut_at_any_step_there_is_a_snapshot_as_new_as_was_told() {
    const CUTS_PER_STEP: u32 = 6;
    let (folder, disk) = (tempfile::tempdir().unwrap(), RecordingDisk::default());
    let lock = DataDirLock::acquire(folder.path()).unwrap();
    let snapshots = SnapshotStore::open_on(Arc::new(disk.clone()), &lock, INSTANCE).unwrap();
    let state = |sequence: u64| format!("after {sequence} ").repeat(200).into_bytes();
    let mut told = vec![(0, 0)];
    for sequence in [100, 200, 300, 400] {
        snapshots.write(sequence, &state(sequence), BUILD).unwrap();
        told.push((disk.steps().len(), sequence));
    }
    let steps = disk.steps();
    for (cut, seed) in (0..=steps.len()).flat_map(|cut| (0..CUTS_PER_STEP).map(move |seed| (cut, seed))) {
        let mut platter = DiskAfterCut::default();
        steps[..cut].iter().for_each(|step| platter.apply(step));
        let left = SnapshotFixture { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(left.folder.path().join(FOLDER)).unwrap();
        for (path, bytes) in platter.switch_off(seed) {
            fs::write(left.folder.path().join(FOLDER).join(path.file_name().unwrap()), bytes).unwrap();
        }
        let written = told.iter().rev().find(|(steps, _)| *steps <= cut).map_or(0, |(_, sequence)| *sequence);
        let found = left.open().latest_valid(None).unwrap();
        let newest = found.as_ref().map_or(0, |found| found.sequence);
        assert!(newest >= written, "cut {cut}, seed {seed}: {newest} after {written}");
        assert!(found.is_none_or(|found| found.state == state(found.sequence)), "cut {cut}, seed {seed}");
    }
}

#[test]
fn the_snapshots_from_before_a_start_stay_until_the_reader_says_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let lock = DataDirLock::acquire(folder.path()).unwrap();
    let earlier = SnapshotStore::open(&lock, InstanceId([7; 16])).unwrap();
    [10, 20].iter().for_each(|written| earlier.write(*written, b"state", "test").unwrap());
    let reached = Arc::new(std::sync::Mutex::new(None));
    let needed = reached.clone();
    let snapshots = SnapshotStore::open(&lock, InstanceId([7; 16])).unwrap();
    let snapshots = snapshots.keep_for(move || *needed.lock().unwrap());
    let kept = |written: u64| -> Vec<u64> {
        snapshots.write(written, b"state", "test").unwrap();
        snapshots.list(EXTENSION).unwrap().into_iter().map(|(sequence, _)| sequence).collect()
    };
    assert_eq!([kept(30), kept(40), kept(50)], [vec![10, 20, 30], vec![10, 20, 30, 40], vec![10, 20, 40, 50]]);
    *reached.lock().unwrap() = Some(25);
    assert_eq!(kept(60), [20, 50, 60]);
}
