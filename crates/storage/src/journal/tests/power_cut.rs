//! A power cut after any step of the writer. Synced data is there; of written data any sectors may be. In every case
//! all data reported durable is recovered, and the journal opens without repair.

use std::collections::BTreeMap;

use super::*;

const SECTOR_BYTES: u64 = 512;
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
    let steps = disk.0.lock().unwrap().steps.clone();
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
        disk.0.lock().unwrap().names.insert(name, 0);
    }
    let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
    let (found, _journal) = Journal::open_on(Arc::new(disk.clone()), &lock, &bench.options, &mut |_| {}).unwrap();
    assert_eq!(found.last_sequence, 2, "it was written, so it may count");
    let steps = disk.0.lock().unwrap().steps.clone();
    let is_second = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("in the memory of the machine");
    let rewritten = steps.iter().find_map(|step| match step {
        DiskOperation::Write { offset, bytes, .. } if is_second(bytes) => Some((*offset, bytes.clone())),
        _ => None,
    });
    let (offset, bytes) = rewritten.expect("the frame is written again");
    let start = usize::try_from(offset).unwrap();
    assert_eq!(bytes, shown[start..start + bytes.len()], "byte by byte as it was");
}

#[derive(Debug, Clone)]
enum DiskOperation {
    Create { file: usize, path: PathBuf },
    Write { file: usize, offset: u64, bytes: Vec<u8> },
    Sync { file: usize },
    Rename { from: PathBuf, to: PathBuf },
    Remove { path: PathBuf },
    Told(u64),
}

/// A new fixture with the remaining files, and the last sequence that was reported durable.
fn after_power_cut(steps: &[DiskOperation], seed: u32) -> (JournalFixture, u64) {
    let mut platter = SimulatedDisk::default();
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
        fs::write(left.journal_folder().join(path.file_name().unwrap()), bytes).unwrap();
    }
    (left, told)
}

/// What has surely reached the disk, and the writes that are still on their way.
#[derive(Default)]
struct SimulatedDisk {
    names: BTreeMap<PathBuf, usize>,
    files: BTreeMap<usize, Vec<u8>>,
    pending: Vec<(usize, u64, Vec<u8>)>,
}

impl SimulatedDisk {
    fn apply(&mut self, step: &DiskOperation) {
        match step {
            DiskOperation::Create { file, path } => drop(self.names.insert(path.clone(), *file)),
            DiskOperation::Write { file, offset, bytes } => self.pending.push((*file, *offset, bytes.clone())),
            DiskOperation::Sync { file } => self.sync(*file),
            DiskOperation::Rename { from, to } => {
                let file = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), file);
            }
            DiskOperation::Remove { path } => drop(self.names.remove(path)),
            DiskOperation::Told(_) => {}
        }
    }

    fn sync(&mut self, synced: usize) {
        for (file, offset, bytes) in std::mem::take(&mut self.pending) {
            if file == synced {
                self.put(file, offset, &bytes);
            } else {
                self.pending.push((file, offset, bytes));
            }
        }
    }

    fn switch_off(mut self, seed: u32) -> Vec<(PathBuf, Vec<u8>)> {
        for (index, (file, offset, bytes)) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            for (at, sector) in sectors(offset, &bytes) {
                let dice = crc32c::crc32c_append(seed, &[index as u64, at].map(u64::to_le_bytes).concat());
                if dice.is_multiple_of(2) {
                    self.put(file, at, sector);
                }
            }
        }
        let bytes = |file| self.files.get(&file).cloned().unwrap_or_default();
        self.names.iter().map(|(path, file)| (path.clone(), bytes(*file))).collect()
    }

    fn put(&mut self, file: usize, offset: u64, bytes: &[u8]) {
        let content = self.files.entry(file).or_default();
        let start = usize::try_from(offset).unwrap();
        let end = start + bytes.len();
        content.resize(content.len().max(end), 0);
        content[start..end].copy_from_slice(bytes);
    }
}

fn sectors(mut offset: u64, mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut sectors = Vec::new();
    while !bytes.is_empty() {
        let room = usize::try_from(SECTOR_BYTES - offset % SECTOR_BYTES).unwrap();
        let (sector, rest) = bytes.split_at(room.min(bytes.len()));
        sectors.push((offset, sector));
        offset += sector.len() as u64;
        bytes = rest;
    }
    sectors
}

/// Real files, and a list of all that was done to them.
#[derive(Default, Clone)]
struct RecordingDisk(Arc<Mutex<Recording>>);

#[derive(Default)]
struct Recording {
    steps: Vec<DiskOperation>,
    names: BTreeMap<PathBuf, usize>,
    files: usize,
}

impl RecordingDisk {
    fn note(&self, step: DiskOperation) {
        self.0.lock().unwrap().steps.push(step);
    }

    fn medium(&self, file: usize, inner: Box<dyn WritableFile>) -> Box<dyn WritableFile> {
        Box::new(RecordingMedium { file, inner, disk: self.clone() })
    }
}

impl FileSystem for RecordingDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let mut recording = self.0.lock().unwrap();
        recording.files += 1;
        let file = recording.files;
        recording.names.insert(path.to_owned(), file);
        recording.steps.push(DiskOperation::Create { file, path: path.to_owned() });
        Ok(self.medium(file, OsFileSystem.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let file = self.0.lock().unwrap().names[path];
        Ok(self.medium(file, OsFileSystem.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut recording = self.0.lock().unwrap();
        let file = recording.names.remove(from).unwrap();
        recording.names.insert(to.to_owned(), file);
        recording.steps.push(DiskOperation::Rename { from: from.to_owned(), to: to.to_owned() });
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.note(DiskOperation::Remove { path: path.to_owned() });
        fs::remove_file(path)
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        OsFileSystem.truncate(path, length)
    }
}

struct RecordingMedium {
    file: usize,
    inner: Box<dyn WritableFile>,
    disk: RecordingDisk,
}

impl WritableFile for RecordingMedium {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.disk.note(DiskOperation::Write { file: self.file, offset, bytes: bytes.to_vec() });
        self.inner.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.note(DiskOperation::Sync { file: self.file });
        Ok(())
    }
}
