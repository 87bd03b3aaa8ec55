//! Journal tests. The fixture uses real files, with a disk in between that can be made to fail; it never waits for the
//! real disk.

mod anchors;
mod archives;
mod backups;
mod copies;
mod damage;
mod faults;
mod lost;
mod power_cut;
mod pruning;
mod random;
mod sealed;
mod stories;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use tempfile::TempDir;

use super::format::{segment, segment_reader};
use super::*;
use crate::file_system::{FileSystem, OsFileSystem, WritableFile};

const INSTANCE: InstanceId = InstanceId(*b"the test journal");
/// Nothing here takes long; a test that waits this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A data folder with a journal of small segments.
struct JournalFixture {
    folder: TempDir,
    disk: Arc<TestDisk>,
    options: JournalOptions,
}

impl JournalFixture {
    fn new() -> Self {
        let options = JournalOptions { segment_bytes: 1024, ..JournalOptions::new(INSTANCE) };
        Self { folder: tempfile::tempdir().unwrap(), disk: Arc::default(), options }
    }

    fn open(&self) -> (JournalSummary, Journal) {
        self.try_open().unwrap()
    }

    fn try_open(&self) -> Result<(JournalSummary, Journal), StorageError> {
        let lock = DataDirLock::acquire(self.folder.path())?;
        Journal::open_on(self.disk.clone(), &lock, &self.options, &mut |_| {})
    }

    fn journal_folder(&self) -> PathBuf {
        self.folder.path().join(FOLDER)
    }

    fn report(&self) -> VerifyReport {
        verify(&self.journal_folder(), &mut |_| {}).unwrap()
    }

    fn read(&self) -> Vec<String> {
        read_from(&self.journal_folder(), 0).unwrap()
    }

    fn segments(&self) -> Vec<PathBuf> {
        segment::list(&self.journal_folder()).unwrap().into_iter().map(|(_, path)| path).collect()
    }

    /// An error text without the name of the temporary folder.
    fn text(&self, error: &impl ToString) -> String {
        error.to_string().replace(&format!("{}/", self.folder.path().display()), "")
    }
}

/// One record, whose time and kind follow from its sequence.
fn batch(sequence: u64, text: &str) -> JournalBatch {
    let time = i64::try_from(sequence).unwrap() * 1000;
    JournalBatch { time, records: vec![record(sequence, text)] }
}

fn record(sequence: u64, text: &str) -> JournalRecord {
    JournalRecord { sequence, kind: u8::try_from(sequence % 3).unwrap(), payload: text.as_bytes().to_vec() }
}

/// As `read_from` shows it.
fn line(sequence: u64, text: &str) -> String {
    format!("{sequence} at {} kind {}: {text}", sequence * 1000, sequence % 3)
}

fn read_from(folder: &Path, from: u64) -> Result<Vec<String>, StorageError> {
    let mut lines = Vec::new();
    let mut visit = |entry: JournalEntry<'_>| {
        lines.push(show(entry));
        Ok::<(), StorageError>(())
    };
    JournalReader::open(folder, from)?.replay(&mut visit, &mut |_| {})?;
    Ok(lines)
}

fn show(entry: JournalEntry<'_>) -> String {
    let text = String::from_utf8_lossy(entry.payload);
    format!("{} at {} kind {}: {text}", entry.sequence, entry.time, entry.kind)
}

fn wait_durable(journal: &Journal, sequence: u64) {
    while journal.durable() < sequence {
        match journal.durability_events().recv_timeout(PATIENCE).unwrap() {
            DurabilityEvent::Advanced { .. } => {}
            DurabilityEvent::Failed { error } => panic!("{error}"),
        }
    }
}

fn append_durable(journal: &mut Journal, sequence: u64, text: &str) {
    journal.append(batch(sequence, text)).unwrap();
    wait_durable(journal, sequence);
}

fn wait_failed(journal: &Journal) -> String {
    loop {
        if let DurabilityEvent::Failed { error } = journal.durability_events().recv_timeout(PATIENCE).unwrap() {
            return error;
        }
    }
}

/// Real files without real syncs, and with faults.
#[derive(Default)]
struct TestDisk(Arc<Faults>);

#[derive(Default)]
struct Faults {
    sync_fails: AtomicBool,
    write_fails: AtomicBool,
    /// New files can't be filled.
    is_full: AtomicBool,
    /// Every write is first interrupted and then cut to so many bytes; 0 for neither.
    longest_write: AtomicUsize,
    /// While set, a sync of a segment signals that it has begun and then waits for a permit.
    hold: Mutex<Option<Hold>>,
}

#[derive(Clone)]
struct Hold {
    begun: Sender<()>,
    permits: Receiver<()>,
}

impl TestDisk {
    /// From now on each sync announces itself and waits until it is permitted; a dropped sender permits all.
    fn hold_syncs(&self) -> (Receiver<()>, Sender<()>) {
        let ((begun, has_begun), (permit, permits)) = (unbounded(), bounded(0));
        *self.0.hold.lock().unwrap() = Some(Hold { begun, permits });
        (has_begun, permit)
    }
}

impl FileSystem for TestDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let inner = OsFileSystem.create(path)?;
        Ok(Box::new(TestMedium { inner, is_new: true, interrupted: AtomicBool::new(false), faults: self.0.clone() }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let inner = OsFileSystem.open(path)?;
        Ok(Box::new(TestMedium { inner, is_new: false, interrupted: AtomicBool::new(false), faults: self.0.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        OsFileSystem.truncate(path, length)
    }
}

struct TestMedium {
    inner: Box<dyn WritableFile>,
    is_new: bool,
    interrupted: AtomicBool,
    faults: Arc<Faults>,
}

impl WritableFile for TestMedium {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if self.is_new && self.faults.is_full.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(28));
        }
        if !self.is_new && self.faults.write_fails.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(5));
        }
        let longest = self.faults.longest_write.load(Ordering::SeqCst);
        if longest == 0 {
            return self.inner.write_at(bytes, offset);
        }
        if !self.interrupted.fetch_xor(true, Ordering::SeqCst) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.inner.write_at(&bytes[..longest.min(bytes.len())], offset)
    }

    fn sync(&self) -> io::Result<()> {
        let hold = self.faults.hold.lock().unwrap().clone().filter(|_| !self.is_new);
        if let Some(Hold { begun, permits }) = hold {
            let _ = begun.send(());
            let _ = permits.recv();
        }
        match self.faults.sync_fails.load(Ordering::SeqCst) {
            true => Err(io::Error::from_raw_os_error(5)),
            false => Ok(()),
        }
    }
}
