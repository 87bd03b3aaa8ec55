//! The journal: segments of frames, each frame one commit, each linked to the one before by its hash.
//!
//! ```text
//! append ▸ queue ▸ writer thread: drain ▸ one frame ▸ one write ▸ one sync ▸ durable sequence ▸ durability event
//! ```
//!
//! What counts on disk:
//! * a frame is whole or it is not there;
//! * a file with the name of a segment has a good header;
//! * a torn end can only be the very end and one frame of which a part is missing, and it is cut; anything else that is wrong is refused
//!   by name;
//! * what was durable is still there: the head file, and every other record of its end, knows nothing that the segments lack.

mod format;
mod options;
mod sync_mode;
mod scan;
mod head;
mod maintenance;
mod recovery;
mod replicator;
mod release;
mod writer;
mod spare;
mod shared;
mod stall;
mod reader;
mod sealed_journal;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use domain::PlantedBug;

pub use format::chain::{ChainAnchor, ChainHash, InstanceId, InvalidHash};
#[cfg(test)]
pub(crate) use format::floor::write as write_floor;
pub use format::floor::{FLOOR_FILE, JournalFloor, read_floor};
pub use format::packed::ARCHIVE;
pub use format::record::{JournalBatch, JournalEntry, JournalRecord};
pub use format::sealed_frame::{ChainError, FrameChain, SealedFrame, SegmentHeaderBytes};
pub use head::Head;
pub use maintenance::archive::{Archived, archive, archive_on};
pub use maintenance::copy::{
    BackupFolders, CopiedJournal, CopiedSegment, CopyLimit, EarlierCopies, back_up, back_up_on, durable_head, restore,
    restore_on,
};
pub use maintenance::fork::cut_fork;
pub use maintenance::loss::{Left, accept as accept_loss, head_sequence, sync_head};
pub use maintenance::prune::{PruneLimits, PruneStop, Pruned, prune, prune_on};
pub use options::{JournalOptions, KnownSequence, StartAnchor};
pub use reader::{JournalReader, chain_at, input_time};
pub use release::durability::DurabilityEvent;
pub(crate) use release::release_gate::ReleaseGate;
pub use replicator::FrameReplicator;
pub use scan::{JournalSummary, ScanProgress, VerifyReport, instance_of, verify, verify_older, verify_with};
pub use sealed_journal::SealedJournal;
pub use shared::{COMMIT_BUCKETS, JournalMetrics, JournalMonitor, SYNC_BUCKETS, SyncTimes};
pub use stall::StallDetector;
pub use sync_mode::SyncMode;
pub use writer::JournalWorker;

use crate::file_system::{FileSystem, OsFileSystem, create_folder};
use crate::lock::DataDirLock;
use crate::{Loss, StorageError};
use format::frame::{self, BATCH_BYTES_MAX, FrameBuilder};
use head::HeadFile;
use release::durability::DurabilityNotifier;
use scan::JournalScan;
use shared::JournalShared;
use spare::{SpareAllocator, SpareOnDemand, SpareSource};
use writer::{JournalWriter, OpenSegment, QueuedBatch};

/// The folder of the journal inside a data folder.
pub const FOLDER: &str = "journal";

/// The writing end. It has one owner, which gives the sequences; others may keep a `JournalMonitor`.
pub struct Journal {
    /// Held by the journal too, so that the folder stays locked until the last write.
    _lock: DataDirLock,
    queue: Option<Sender<QueuedBatch>>,
    queue_bytes: usize,
    last_sequence: u64,
    shared: Arc<JournalShared>,
    durability_events: Receiver<DurabilityEvent>,
    thread: Option<JoinHandle<()>>,
}

/// A journal that was checked, from end to end or from an anchor on, and of which nothing was changed yet.
pub struct Inspected {
    lock: DataDirLock,
    options: JournalOptions,
    disk: Arc<dyn FileSystem>,
    scan: JournalScan,
    /// Whether the head is noted before the first record; not while a loss is being accepted.
    notes_head: bool,
}

/// A batch that was refused, returned whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedBatch {
    pub batch: JournalBatch,
    pub reason: AppendError,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendError {
    /// The disk does not keep up: retry after the next durability event.
    QueueFull,
    /// Nothing is accepted any more.
    Failed {
        error: String,
    },
    Empty,
    TooLarge {
        bytes: usize,
        limit: usize,
    },
    /// Sequences must rise strictly, from batch to batch and inside each.
    SequenceNotRising {
        sequence: u64,
        last: u64,
    },
}

impl Journal {
    /// Checks the journal in the locked data folder from end to end, or from the anchor that the options have, cuts a torn end, and
    /// starts the writer.
    pub fn open(
        lock: &DataDirLock,
        options: &JournalOptions,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<(JournalSummary, Self), StorageError> {
        Self::open_on(Arc::new(OsFileSystem), lock, options, progress)
    }

    /// As [`Self::open`], but only looks: whoever has more to compare does so before anything is cut.
    pub fn inspect(
        lock: &DataDirLock,
        options: &JournalOptions,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Inspected, StorageError> {
        Inspected::of(Arc::new(OsFileSystem), lock, options, progress)
    }

    /// As [`Self::inspect`], on another file system.
    pub fn inspect_on(
        disk: Arc<dyn FileSystem>,
        lock: &DataDirLock,
        options: &JournalOptions,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Inspected, StorageError> {
        Inspected::of(disk, lock, options, progress)
    }

    /// Opens a journal whose loss was accepted. Whoever does must write the next record above everything that was known.
    pub fn open_after_loss(
        lock: &DataDirLock,
        options: &JournalOptions,
    ) -> Result<(JournalSummary, Self), StorageError> {
        let mut scan = JournalScan::new(None);
        scan.run(&lock.folder().join(FOLDER), Some(options.instance), &mut |_| {})?;
        let (lock, options) = (lock.clone(), options.clone());
        Inspected { lock, options, disk: Arc::new(OsFileSystem), scan, notes_head: false }.open()
    }

    /// As [`Self::open`], on another file system.
    pub fn open_on(
        disk: Arc<dyn FileSystem>,
        lock: &DataDirLock,
        options: &JournalOptions,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<(JournalSummary, Self), StorageError> {
        Inspected::of(disk, lock, options, progress)?.open()
    }

    /// The journal and its writer, which runs nowhere yet.
    fn prepare(
        disk: Arc<dyn FileSystem>,
        (lock, options): (&DataDirLock, &JournalOptions),
        recovered: &JournalSummary,
        (open, head_file): (Option<OpenSegment>, HeadFile),
        (shared, spares): (Arc<JournalShared>, SpareSource),
    ) -> (Self, JournalWriter) {
        shared.record_committed(recovered.last_sequence);
        shared.publish(recovered.last_sequence);
        let (queue, queued) = bounded(options.queue_batches);
        let (sender, news) = bounded(1);
        let writer = JournalWriter {
            folder: lock.folder().join(FOLDER),
            disk,
            instance: options.instance,
            capacity: options.segment_bytes,
            sync: options.sync,
            queue: queued,
            carried_over: None,
            deleted_segments: recovered.floor.as_ref().map_or(0, |floor| floor.segment),
            frame: FrameBuilder::new(),
            open,
            head: recovered.head,
            last: recovered.last_sequence,
            head_file,
            spares,
            unsynced: None,
            replicator: None,
            gate: None,
            new_header: None,
            shared: shared.clone(),
            notifier: DurabilityNotifier { sender, unread: news.clone() },
        };
        let journal = Self {
            _lock: lock.clone(),
            queue: Some(queue),
            queue_bytes: options.queue_bytes,
            last_sequence: recovered.last_sequence,
            shared,
            durability_events: news,
            thread: None,
        };
        (journal, writer)
    }

    fn spawn(&mut self, writer: JournalWriter) -> io::Result<()> {
        self.thread = Some(thread::Builder::new().name("journal".to_owned()).spawn(move || writer.run())?);
        Ok(())
    }

    /// Hands a batch to the writer and returns at once. Where its records are more than one frame holds, it goes in parts.
    pub fn append(&mut self, batch: JournalBatch) -> Result<(), RefusedBatch> {
        if let Err(reason) = self.check(&batch) {
            return Err(RefusedBatch { batch, reason });
        }
        let JournalBatch { time, records } = batch;
        frame::parts(records).into_iter().try_for_each(|records| self.send(JournalBatch { time, records }))
    }

    fn send(&mut self, batch: JournalBatch) -> Result<(), RefusedBatch> {
        let Some(queue) = &self.queue else { return Err(self.refused_by_writer(batch)) };
        let (bytes, last) = (frame::batch_bytes(&batch), batch.records.last().map_or(0, |record| record.sequence));
        // Counted before it is sent: the writer may process it before this thread continues.
        self.shared.record_queued(bytes);
        match queue.try_send(QueuedBatch { batch, bytes }) {
            Ok(()) => {
                self.last_sequence = last;
                self.shared.record_given(last);
                Ok(())
            }
            Err(TrySendError::Full(QueuedBatch { batch, bytes })) => {
                self.shared.record_taken(bytes);
                Err(RefusedBatch { batch, reason: AppendError::QueueFull })
            }
            Err(TrySendError::Disconnected(QueuedBatch { batch, bytes })) => {
                self.shared.record_taken(bytes);
                Err(self.refused_by_writer(batch))
            }
        }
    }

    fn check(&self, batch: &JournalBatch) -> Result<(), AppendError> {
        if batch.records.is_empty() {
            return Err(AppendError::Empty);
        }
        let mut last = self.last_sequence;
        for record in &batch.records {
            if record.sequence <= last {
                return Err(AppendError::SequenceNotRising { sequence: record.sequence, last });
            }
            last = record.sequence;
        }
        if let Some(bytes) = batch.records.iter().map(frame::record_bytes).find(|bytes| *bytes > BATCH_BYTES_MAX) {
            return Err(AppendError::TooLarge { bytes, limit: BATCH_BYTES_MAX });
        }
        if self.shared.queued_bytes() >= self.queue_bytes {
            return Err(AppendError::QueueFull);
        }
        Ok(())
    }

    fn refused_by_writer(&self, batch: JournalBatch) -> RefusedBatch {
        let error = self.shared.failure().unwrap_or("the journal thread is gone").to_owned();
        RefusedBatch { batch, reason: AppendError::Failed { error } }
    }

    /// Batches that can surely be appended now; the bytes waiting may allow fewer.
    pub fn free_batches(&self) -> usize {
        if self.shared.queued_bytes() >= self.queue_bytes {
            return 0;
        }
        self.queue.as_ref().map_or(0, |queue| queue.capacity().unwrap_or(0).saturating_sub(queue.len()))
    }

    /// The last sequence that was accepted, durable or not yet.
    pub fn last_sequence(&self) -> u64 {
        self.last_sequence
    }

    /// The last sequence that is durable, 0 before the first.
    pub fn durable(&self) -> u64 {
        self.shared.durable()
    }

    /// The last sequence that this disk and, where it is replicated, a majority of the log has. Beyond what is durable, standbys
    /// are waited for.
    pub fn committed(&self) -> u64 {
        self.shared.committed()
    }

    /// Durability events, for the owner to select on. Only the newest is held; there must be one receiver.
    pub fn durability_events(&self) -> &Receiver<DurabilityEvent> {
        &self.durability_events
    }

    pub fn monitor(&self) -> JournalMonitor {
        JournalMonitor(self.shared.clone())
    }

    /// Writes and syncs what still waits, and returns whether all of it is on disk.
    pub fn close(mut self) -> Result<(), StorageError> {
        self.stop();
        match self.shared.failure() {
            None => Ok(()),
            Some(reason) => Err(StorageError::Failed { reason: reason.to_owned() }),
        }
    }

    fn stop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            self.shared.fail("the journal thread panicked".to_owned());
        }
    }
}

impl Inspected {
    fn of(
        disk: Arc<dyn FileSystem>,
        lock: &DataDirLock,
        options: &JournalOptions,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Self, StorageError> {
        options.check()?;
        let folder = lock.folder().join(FOLDER);
        create_folder(disk.as_ref(), lock.folder(), &folder)?;
        let head = head::read(&folder)?.filter(|_| !PlantedBug::IgnoreHead.is_planted());
        let mut scan = JournalScan::new(head).with_anchor(options.anchor.clone());
        scan.run(&folder, Some(options.instance), progress)?;
        let known = scan.known_beyond(&folder, &options.witnesses);
        if !known.is_empty() {
            let folder = lock.folder().to_owned();
            return Err(StorageError::Lost(Loss { folder, end: scan.summary.last_sequence, known }));
        }
        Ok(Self { lock: lock.clone(), options: options.clone(), disk, scan, notes_head: true })
    }

    pub fn found(&self) -> &JournalSummary {
        &self.scan.summary
    }

    /// The first sequence that was checked, where older segments were left to [`verify_older`].
    pub fn checked_from(&self) -> Option<u64> {
        self.scan.walked_from
    }

    /// Cuts a torn end and starts the writer.
    pub fn open(self) -> Result<(JournalSummary, Journal), StorageError> {
        let folder = self.lock.folder().join(FOLDER);
        let failed = || StorageError::io("start a thread for", &folder);
        let (disk, bytes) = (self.disk.clone(), self.options.segment_bytes);
        let spares = |shared| SpareAllocator::start(disk, &folder, bytes, shared).map(SpareSource::Thread);
        let (recovered, mut journal, writer) = self.open_with(|shared| spares(shared).map_err(failed()))?;
        journal.spawn(writer).map_err(failed())?;
        Ok((recovered, journal))
    }

    /// Cuts a torn end. Nothing runs by itself: whoever holds the worker makes each commit.
    pub fn open_by_hand(self) -> Result<(JournalSummary, Journal, JournalWorker), StorageError> {
        let folder = self.lock.folder().join(FOLDER);
        let (disk, bytes) = (self.disk.clone(), self.options.segment_bytes);
        let spares = |shared| Ok(SpareSource::Caller(SpareOnDemand::start(disk, &folder, bytes, shared)));
        let (recovered, journal, writer) = self.open_with(spares)?;
        Ok((recovered, journal, JournalWorker::new(writer)))
    }

    /// Cuts a torn end, of the journal of a follower: it takes frames that another process sealed.
    pub fn open_sealed(self) -> Result<(JournalSummary, SealedJournal), StorageError> {
        let instance = self.options.instance;
        if self.options.sync != SyncMode::Always {
            let reason = "must be always where other machines have copies".to_owned();
            return Err(StorageError::Setting { name: "journal.sync", reason });
        }
        let folder = self.lock.folder().join(FOLDER);
        let (disk, bytes) = (self.disk.clone(), self.options.segment_bytes);
        let failed = || StorageError::io("start a thread for", &folder);
        let spares = |shared| SpareAllocator::start(disk, &folder, bytes, shared).map(SpareSource::Thread);
        // What this process alone has is not known to be durable elsewhere, and may be cut.
        let found = Self { notes_head: false, ..self };
        let (recovered, journal, writer) = found.open_with(|shared| spares(shared).map_err(failed()))?;
        Ok((recovered, SealedJournal::new(instance, journal, writer)))
    }

    fn open_with(
        self,
        spares: impl FnOnce(Arc<JournalShared>) -> Result<SpareSource, StorageError>,
    ) -> Result<(JournalSummary, Journal, JournalWriter), StorageError> {
        let Self { lock, options, disk, scan, notes_head } = self;
        let folder = lock.folder().join(FOLDER);
        let (recovered, open) = recovery::repair(disk.as_ref(), &folder, scan)?;
        let mut head = HeadFile::open(disk.as_ref(), &folder, options.instance)?;
        if recovered.last_sequence > 0 && notes_head {
            head.note(recovered.last_sequence, recovered.head);
        }
        let shared = Arc::new(JournalShared::default());
        let spares = spares(shared.clone())?;
        let (journal, writer) = Journal::prepare(disk, (&lock, &options), &recovered, (open, head), (shared, spares));
        Ok((recovered, journal, writer))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueFull => f.write_str("the queue of the journal is full"),
            Self::Failed { error } => write!(f, "the journal has failed: {error}"),
            Self::Empty => f.write_str("the batch has no record"),
            Self::TooLarge { bytes, limit } => write!(f, "a record has {bytes} bytes, the limit is {limit}"),
            Self::SequenceNotRising { sequence, last } => {
                write!(f, "sequence {sequence} is not above {last}")
            }
        }
    }
}
