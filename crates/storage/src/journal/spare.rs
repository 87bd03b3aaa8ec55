//! Spare segments: the next segment is zero-filled in advance by its own thread. A commit then changes no file length
//! (which makes the sync cheaper by a third), and a full disk is noticed a whole segment early.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::shared::JournalShared;
use crate::StorageError;
use crate::file_system::{FileSystem, WritableFile, zero_fill};

const FILLING: &str = "next.filling";
const READY: &str = "next.ready";
/// Synced in small steps, so that a commit never waits behind a whole segment of zeros.
const FILL_STEP_BYTES: u64 = 4 << 20;

/// A file of zeros (but for the place of the header) that waits for its name.
pub(crate) struct SpareSegment {
    pub(crate) path: PathBuf,
    pub(crate) medium: Box<dyn WritableFile>,
}

/// Who prepares the next segment.
pub(crate) enum SpareSource {
    /// A thread of its own.
    Thread(SpareAllocator),
    /// Whoever asks.
    Caller(SpareOnDemand),
}

impl SpareSource {
    /// Waits for the spare. Where it could not be made earlier, it is tried once more: space may be free again.
    pub(crate) fn acquire(&self) -> Result<SpareSegment, StorageError> {
        match self {
            Self::Thread(thread) => thread.acquire(),
            Self::Caller(caller) => caller.acquire(),
        }
    }

    /// To be called when the last spare has got its name.
    pub(crate) fn request(&self) {
        match self {
            Self::Thread(thread) => thread.request(),
            Self::Caller(caller) => caller.request(),
        }
    }
}

/// Prepares one spare at a time on the thread that asks.
pub(crate) struct SpareOnDemand {
    filler: SpareFiller,
    shared: Arc<JournalShared>,
    ready: RefCell<Option<SpareSegment>>,
}

impl SpareOnDemand {
    /// Requests the first spare.
    pub(crate) fn start(disk: Arc<dyn FileSystem>, folder: &Path, bytes: u64, shared: Arc<JournalShared>) -> Self {
        let filler = SpareFiller { disk, folder: folder.to_owned(), bytes, stop: Arc::default() };
        let spares = Self { filler, shared, ready: RefCell::default() };
        spares.request();
        spares
    }

    fn acquire(&self) -> Result<SpareSegment, StorageError> {
        match self.ready.take() {
            Some(spare) => Ok(spare),
            None => self.prepare(),
        }
    }

    fn request(&self) {
        // Without one the next `acquire` tries again.
        self.ready.replace(self.prepare().ok());
    }

    fn prepare(&self) -> Result<SpareSegment, StorageError> {
        let outcome = self.filler.prepare();
        self.shared.record_spare_error(outcome.as_ref().err().map(ToString::to_string));
        outcome
    }
}

/// The thread that keeps one spare ready.
pub(crate) struct SpareAllocator {
    requests: Option<Sender<()>>,
    outcomes: Receiver<Result<SpareSegment, StorageError>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SpareAllocator {
    /// Starts the thread and requests the first spare.
    pub(crate) fn start(
        disk: Arc<dyn FileSystem>,
        folder: &Path,
        bytes: u64,
        shared: Arc<JournalShared>,
    ) -> io::Result<Self> {
        // There is at most one request at a time, so neither side ever waits to send.
        let (requests, requested) = bounded(1);
        let (finished, outcomes) = bounded(1);
        let stop = Arc::new(AtomicBool::new(false));
        let filler = SpareFiller { disk, folder: folder.to_owned(), bytes, stop: stop.clone() };
        let thread = thread::Builder::new()
            .name("journal-spare".to_owned())
            .spawn(move || filler.serve(&requested, &finished, &shared))?;
        let keeper = Self { requests: Some(requests), outcomes, stop, thread: Some(thread) };
        keeper.request();
        Ok(keeper)
    }

    fn acquire(&self) -> Result<SpareSegment, StorageError> {
        match self.receive() {
            Ok(spare) => Ok(spare),
            Err(_) => {
                self.request();
                self.receive()
            }
        }
    }

    fn request(&self) {
        if let Some(requests) = &self.requests {
            // A thread that is gone shows in `receive`.
            let _ = requests.send(());
        }
    }

    fn receive(&self) -> Result<SpareSegment, StorageError> {
        let gone = || StorageError::Failed { reason: "the thread that prepares segments is gone".to_owned() };
        self.outcomes.recv().map_err(|_| gone())?
    }
}

impl Drop for SpareAllocator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A panic there was logged, and the spare is only zeros.
            let _ = thread.join();
        }
    }
}

struct SpareFiller {
    disk: Arc<dyn FileSystem>,
    folder: PathBuf,
    bytes: u64,
    stop: Arc<AtomicBool>,
}

impl SpareFiller {
    fn serve(
        &self,
        requested: &Receiver<()>,
        finished: &Sender<Result<SpareSegment, StorageError>>,
        shared: &JournalShared,
    ) {
        while requested.recv().is_ok() {
            let outcome = self.prepare();
            shared.record_spare_error(outcome.as_ref().err().map(ToString::to_string));
            if finished.send(outcome).is_err() {
                return;
            }
        }
    }

    /// An incomplete spare is removed: on a full disk the space is needed.
    fn prepare(&self) -> Result<SpareSegment, StorageError> {
        let path = self.folder.join(READY);
        if !self.is_ready(&path) {
            let filling = self.folder.join(FILLING);
            self.fill(&filling)
                .inspect_err(|_| drop(self.disk.remove(&filling)))
                .map_err(StorageError::io("prepare the next segment", &filling))?;
            self.disk.rename(&filling, &path).map_err(StorageError::io("rename", &filling))?;
        }
        let medium = self.disk.open(&path).map_err(StorageError::io("open", &path))?;
        Ok(SpareSegment { path, medium })
    }

    /// A spare of an earlier run is as good as a new one: it got its name when it was full and synced.
    fn is_ready(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|found| found.len() == self.bytes)
    }

    fn fill(&self, path: &Path) -> io::Result<()> {
        let medium = self.disk.create(path)?;
        let mut filled = 0;
        while filled < self.bytes {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other("the journal is closing"));
            }
            let to = self.bytes.min(filled + FILL_STEP_BYTES);
            zero_fill(medium.as_ref(), filled, to)?;
            medium.sync()?;
            filled = to;
        }
        Ok(())
    }
}
