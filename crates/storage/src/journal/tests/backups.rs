//! Folders of backups, and power cuts while one is taken.

use std::collections::BTreeMap;

use super::archives::{RECORDS, lines, pack, traded};
use super::*;
use crate::file_system::{complete_folder, copy_durable, write_durable};
use crate::tests::recording_disk::{DiskAfterCut, RecordingDisk};

/// The folders of a backup, and what the newest one has.
pub(super) struct Backups {
    folder: TempDir,
    pub(super) newest: Option<CopiedJournal>,
}

impl Backups {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        ["sealed", "tail"].iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
        Self { folder, newest: None }
    }

    pub(super) fn sealed(&self) -> Vec<(PathBuf, CopiedSegment)> {
        let Some(newest) = &self.newest else { return vec![] };
        let (_, sealed) = newest.segments.split_last().unwrap();
        sealed.iter().map(|segment| (self.folder.path().join("sealed").join(&segment.file), segment.clone())).collect()
    }

    pub(super) fn add(&mut self, bench: &JournalFixture, is_read_again: bool) {
        self.newest = Some(self.try_add(&OsFileSystem, bench.folder.path(), is_read_again).unwrap());
    }

    /// A backup that is not counted yet.
    fn try_add(&self, disk: &dyn FileSystem, data: &Path, is_read_again: bool) -> Result<CopiedJournal, StorageError> {
        self.try_add_while(disk, data, is_read_again, &mut || {})
    }

    /// Something else happens whenever the backup shows its progress.
    pub(super) fn add_while(&mut self, bench: &JournalFixture, meanwhile: &mut dyn FnMut()) {
        self.newest = Some(self.try_add_while(&OsFileSystem, bench.folder.path(), false, meanwhile).unwrap());
    }

    fn try_add_while(
        &self,
        disk: &dyn FileSystem,
        data: &Path,
        is_read_again: bool,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<CopiedJournal, StorageError> {
        let known: Vec<_> = self.sealed().into_iter().map(|(_, segment)| segment).collect();
        let floor = self.newest.as_ref().and_then(|newest| newest.floor);
        let earlier = EarlierCopies { segments: &known, floor, is_read_again };
        let (sealed, tail) = (self.folder.path().join("sealed"), self.folder.path().join("tail"));
        let to = BackupFolders { sealed: &sealed, tail: &tail };
        back_up_on(disk, data, RECORDS, earlier, to, &mut |_| meanwhile())
    }

    pub(super) fn restored(&self) -> JournalFixture {
        let newest = self.newest.as_ref().unwrap();
        let end = newest.segments.last().unwrap();
        let tail = (self.folder.path().join("tail").join(&end.file), end.clone());
        let segments = [self.sealed(), vec![tail]].concat();
        let target = JournalFixture::new();
        restore(&segments, newest.floor, CopyLimit::NONE, target.folder.path(), &mut |_| {}).unwrap();
        target
    }
}

const CUTS_PER_STEP: u32 = 3;

/// The backup folders as a power cut left them.
fn after_cut(disk: &RecordingDisk, steps: usize, seed: u32) -> Backups {
    let mut platter = DiskAfterCut::default();
    disk.steps()[..steps].iter().for_each(|step| platter.apply(step));
    let left = Backups::new();
    for (path, bytes) in platter.switch_off(seed) {
        let folder = path.parent().unwrap().file_name().unwrap();
        fs::write(left.folder.path().join(folder).join(path.file_name().unwrap()), bytes).unwrap();
    }
    left
}

/// What has its name is whole, and the next backup is as good as if nothing had happened. Half of the segments are archived, so that
/// some are linked and some are unpacked.
#[test]
fn after_a_power_cut_at_any_step_of_a_backup_the_next_one_is_whole() {
    let bench = traded();
    pack(&bench, 5);
    let (backups, disk) = (Backups::new(), RecordingDisk::default());
    let whole = backups.try_add(&disk, bench.folder.path(), false).unwrap();
    let names: Vec<_> = whole.segments.iter().map(|segment| segment.file.clone()).collect();
    let steps = disk.steps().len();
    assert!(names.len() > 8 && steps > 3 * names.len(), "{steps} steps for {names:?}");
    for (cut, seed) in (0..=steps).flat_map(|cut| (0..CUTS_PER_STEP).map(move |seed| (cut, seed))) {
        let mut left = after_cut(&disk, cut, seed);
        for name in names.iter().filter(|name| left.folder.path().join("sealed").join(name).exists()) {
            let copied = fs::read(left.folder.path().join("sealed").join(name)).unwrap();
            let original = fs::read(backups.folder.path().join("sealed").join(name)).unwrap();
            assert_eq!(copied, original, "cut {cut}, seed {seed}: {name}");
        }
        left.add(&bench, false);
        assert_eq!(left.newest.as_ref(), Some(&whole), "cut {cut}, seed {seed}");
        assert_eq!(left.restored().read(), lines(RECORDS), "cut {cut}, seed {seed}");
    }
}

/// The files below `named` after a power cut, by their names below it; none where the folder has not got its name.
fn left_of(disk: &RecordingDisk, steps: usize, seed: u32, root: &Path, named: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut platter = DiskAfterCut::forgetful(root);
    disk.steps()[..steps].iter().for_each(|step| platter.apply(step));
    let below = |(path, bytes): (PathBuf, Vec<u8>)| Some((path.strip_prefix(named).ok()?.to_owned(), bytes));
    platter.switch_off(seed).into_iter().filter_map(below).collect()
}

/// A backup's own folder as the server makes it: the end of the journal, further files, the manifest, and then the name.
#[test]
fn after_a_power_cut_at_any_step_a_backup_that_has_its_name_is_whole() {
    let (bench, root, disk) = (traded(), tempfile::tempdir().unwrap(), RecordingDisk::default());
    let (unfinished, named) = (root.path().join("1.new"), root.path().join("1"));
    let (tail, sealed, venues) = (unfinished.join("journal"), tempfile::tempdir().unwrap(), unfinished.join("venues"));
    [&tail, &venues].iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    let to = BackupFolders { sealed: sealed.path(), tail: &tail };
    back_up_on(&disk, bench.folder.path(), RECORDS, EarlierCopies::default(), to, &mut |_| {}).unwrap();
    let ledger = bench.folder.path().join("ledger");
    fs::write(&ledger, vec![7; 3_000]).unwrap();
    copy_durable(&disk, &ledger, &venues.join("A.ledger")).unwrap();
    write_durable(&disk, &unfinished.join("manifest.json"), b"{}").unwrap();
    complete_folder(&disk, &unfinished, &named).unwrap();
    let steps = disk.steps().len();
    let whole = left_of(&disk, steps, 0, root.path(), &named);
    assert_eq!(whole.len(), 3, "{:?}", whole.keys());
    assert_eq!(
        (&whole[Path::new("venues/A.ledger")], &whole[Path::new("manifest.json")]),
        (&vec![7; 3_000], &b"{}".to_vec())
    );
    let (mut unnamed, mut complete) = (0, 0);
    for (cut, seed) in (0..=steps).flat_map(|cut| (0..CUTS_PER_STEP).map(move |seed| (cut, seed))) {
        let left = left_of(&disk, cut, seed, root.path(), &named);
        assert!(left.is_empty() || left == whole, "cut {cut}, seed {seed}: {:?}", left.keys());
        *(if left.is_empty() { &mut unnamed } else { &mut complete }) += 1;
    }
    assert!(unnamed > 0 && complete > 0, "{unnamed} without a name, {complete} with it");
}

#[test]
fn after_a_power_cut_at_any_step_a_restored_folder_that_has_its_name_is_whole() {
    let bench = traded();
    pack(&bench, 5);
    let mut backups = Backups::new();
    backups.add(&bench, false);
    let newest = backups.newest.as_ref().unwrap();
    let end = newest.segments.last().unwrap();
    let tail = (backups.folder.path().join("tail").join(&end.file), end.clone());
    let segments = [backups.sealed(), vec![tail]].concat();
    let (root, disk) = (tempfile::tempdir().unwrap(), RecordingDisk::default());
    let (work, target) = (root.path().join("data.restoring"), root.path().join("data"));
    restore_on(&disk, &segments, newest.floor, CopyLimit::NONE, &work, &mut |_| {}).unwrap();
    complete_folder(&disk, &work, &target).unwrap();
    let steps = disk.steps().len();
    let whole = left_of(&disk, steps, 0, root.path(), &target);
    for (cut, seed) in (0..=steps).flat_map(|cut| (0..CUTS_PER_STEP).map(move |seed| (cut, seed))) {
        let left = left_of(&disk, cut, seed, root.path(), &target);
        assert!(left.is_empty() || left == whole, "cut {cut}, seed {seed}: {:?}", left.keys());
    }
    let restored = JournalFixture::new();
    for (name, bytes) in whole {
        let path = restored.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    assert_eq!((restored.report().damage, restored.read()), (None, lines(RECORDS)));
}
