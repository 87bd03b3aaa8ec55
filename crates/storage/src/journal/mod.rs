//! The journal: segments of frames, each frame one commit, each linked to the one before by its hash.
//!
//! ```text
//! append ▸ queue ▸ writer thread: drain ▸ one frame ▸ one write ▸ one sync ▸ durable sequence ▸ durability event
//! ```
//!
//! What counts on disk:
//! * a frame is whole or it is not there;
//! * a file with the name of a segment has a good header;
//! * a torn end can only be the very end and one frame, and it is cut; anything else that is wrong is refused by name;
//! * what was durable is still there: the head file, and whoever else remembers, knows nothing that the segments lack.

mod record;
mod options;
mod sync_mode;
mod chain;
mod frame;
mod segment;
mod segment_reader;
mod scan;
mod head;
mod loss;
mod recovery;
mod writer;
mod spare;
mod shared;
mod reader;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

pub use chain::{ChainHash, InstanceId};
pub use head::Head;
pub use loss::{Left, accept as accept_loss, head_sequence};
pub use options::{Options, Witness};
pub use reader::Reader;
pub use record::{Batch, Entry, Record};
pub use scan::{Progress, Recovered, Report, instance_of, verify, verify_with};
pub use shared::{COMMIT_BUCKETS, Metrics, SYNC_BUCKETS, SyncTimes, Watch};
pub use sync_mode::SyncMode;
pub use writer::Durable;

use crate::lock::FolderLock;
use crate::medium::{Disk, RealDisk, create_folder};
use crate::{Loss, StorageError};
use frame::FrameBuilder;
use head::HeadFile;
use scan::Scan;
use shared::Shared;
use spare::SpareKeeper;
use writer::{News, OpenSegment, Queued, Writer};

/// The folder of the journal inside a data folder.
pub const FOLDER: &str = "journal";

/// The writing end. It has one owner, which gives the sequences; others may keep a `Watch`.
pub struct Journal {
    /// Held by the journal too, so that the folder stays locked until the last write.
    _lock: FolderLock,
    queue: Option<Sender<Queued>>,
    queue_bytes: usize,
    batch_limit: usize,
    last_sequence: u64,
    shared: Arc<Shared>,
    news: Receiver<Durable>,
    thread: Option<JoinHandle<()>>,
}

/// A journal that was checked from end to end, and of which nothing was changed yet.
pub struct Inspected {
    lock: FolderLock,
    options: Options,
    disk: Arc<dyn Disk>,
    scan: Scan,
    /// Whether the head is noted before the first record; not while a loss is being accepted.
    notes_head: bool,
}

/// A batch that was refused, returned whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub batch: Batch,
    pub reason: AppendRefusal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendRefusal {
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
    /// Checks the journal in the locked data folder from end to end, cuts a torn end, and starts the writer.
    pub fn open(
        lock: &FolderLock,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Recovered, Self), StorageError> {
        Self::open_on(Arc::new(RealDisk), lock, options, progress)
    }

    /// As [`Self::open`], but only looks: whoever has more to compare does so before anything is cut.
    pub fn inspect(
        lock: &FolderLock,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Inspected, StorageError> {
        Inspected::of(Arc::new(RealDisk), lock, options, progress)
    }

    /// Opens a journal whose loss was accepted. Whoever does must write the next record above everything that was known.
    pub fn open_after_loss(lock: &FolderLock, options: &Options) -> Result<(Recovered, Self), StorageError> {
        let mut scan = Scan::new(None);
        scan.run(&lock.folder().join(FOLDER), Some(options.instance), &mut |_| {})?;
        let (lock, options) = (lock.clone(), options.clone());
        Inspected { lock, options, disk: Arc::new(RealDisk), scan, notes_head: false }.open()
    }

    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        lock: &FolderLock,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Recovered, Self), StorageError> {
        Inspected::of(disk, lock, options, progress)?.open()
    }

    fn start(
        disk: Arc<dyn Disk>,
        lock: &FolderLock,
        options: &Options,
        recovered: &Recovered,
        (open, head_file): (Option<OpenSegment>, HeadFile),
    ) -> Result<Self, StorageError> {
        let folder = lock.folder().join(FOLDER);
        let failed = || StorageError::io("start a thread for", &folder);
        let shared = Arc::new(Shared::default());
        shared.publish(recovered.last_sequence);
        let (queue, queued) = bounded(options.queue_batches);
        let (sender, news) = bounded(1);
        let spares =
            SpareKeeper::start(disk.clone(), &folder, options.segment_bytes, shared.clone()).map_err(failed())?;
        let writer = Writer {
            folder: folder.clone(),
            disk,
            instance: options.instance,
            capacity: options.segment_bytes,
            sync: options.sync,
            queue: queued,
            held: None,
            frame: FrameBuilder::new(),
            open,
            head: recovered.head,
            last: recovered.last_sequence,
            head_file,
            spares,
            unsynced: None,
            shared: shared.clone(),
            news: News { sender, unread: news.clone() },
        };
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(move || writer.run());
        Ok(Self {
            _lock: lock.clone(),
            queue: Some(queue),
            queue_bytes: options.queue_bytes,
            batch_limit: options.batch_limit(),
            last_sequence: recovered.last_sequence,
            shared,
            news,
            thread: Some(thread.map_err(failed())?),
        })
    }

    /// Hands a batch to the writer and returns at once.
    pub fn append(&mut self, batch: Batch) -> Result<(), Refused> {
        let (bytes, last) = match self.check(&batch) {
            Ok(checked) => checked,
            Err(reason) => return Err(Refused { batch, reason }),
        };
        let Some(queue) = &self.queue else { return Err(self.refused_by_writer(batch)) };
        // Counted before it is sent: the writer may process it before this thread continues.
        self.shared.note_queued(bytes);
        match queue.try_send(Queued { batch, bytes }) {
            Ok(()) => {
                self.last_sequence = last;
                self.shared.note_given(last);
                Ok(())
            }
            Err(TrySendError::Full(Queued { batch, bytes })) => {
                self.shared.note_taken(bytes);
                Err(Refused { batch, reason: AppendRefusal::QueueFull })
            }
            Err(TrySendError::Disconnected(Queued { batch, bytes })) => {
                self.shared.note_taken(bytes);
                Err(self.refused_by_writer(batch))
            }
        }
    }

    /// The size of the batch and its last sequence, or why it is refused.
    fn check(&self, batch: &Batch) -> Result<(usize, u64), AppendRefusal> {
        if batch.records.is_empty() {
            return Err(AppendRefusal::Empty);
        }
        let mut last = self.last_sequence;
        for record in &batch.records {
            if record.sequence <= last {
                return Err(AppendRefusal::SequenceNotRising { sequence: record.sequence, last });
            }
            last = record.sequence;
        }
        let bytes = frame::batch_bytes(batch);
        if bytes > self.batch_limit {
            return Err(AppendRefusal::TooLarge { bytes, limit: self.batch_limit });
        }
        if self.shared.queued_bytes() >= self.queue_bytes {
            return Err(AppendRefusal::QueueFull);
        }
        Ok((bytes, last))
    }

    fn refused_by_writer(&self, batch: Batch) -> Refused {
        let error = self.shared.failure().unwrap_or("the journal thread is gone").to_owned();
        Refused { batch, reason: AppendRefusal::Failed { error } }
    }

    /// Batches that can surely be appended now; the bytes waiting may allow fewer.
    pub fn room(&self) -> usize {
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

    /// Durability events, for the owner to select on. Only the newest is held; there must be one receiver.
    pub fn news(&self) -> &Receiver<Durable> {
        &self.news
    }

    pub fn watch(&self) -> Watch {
        Watch(self.shared.clone())
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
        disk: Arc<dyn Disk>,
        lock: &FolderLock,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, StorageError> {
        options.check()?;
        let folder = lock.folder().join(FOLDER);
        create_folder(disk.as_ref(), lock.folder(), &folder)?;
        let mut scan = Scan::new(head::read(&folder)?);
        scan.run(&folder, Some(options.instance), progress)?;
        let known = scan.known_beyond(&folder, &options.witnesses);
        if !known.is_empty() {
            let folder = lock.folder().to_owned();
            return Err(StorageError::Lost(Loss { folder, end: scan.found.last_sequence, known }));
        }
        Ok(Self { lock: lock.clone(), options: options.clone(), disk, scan, notes_head: true })
    }

    pub fn found(&self) -> &Recovered {
        &self.scan.found
    }

    /// Cuts a torn end and starts the writer.
    pub fn open(self) -> Result<(Recovered, Journal), StorageError> {
        let Self { lock, options, disk, scan, notes_head } = self;
        let folder = lock.folder().join(FOLDER);
        let (recovered, open) = recovery::repair(disk.as_ref(), &folder, scan)?;
        let mut head = HeadFile::open(disk.as_ref(), &folder, options.instance)?;
        if recovered.last_sequence > 0 && notes_head {
            head.note(recovered.last_sequence, recovered.head);
        }
        let journal = Journal::start(disk, &lock, &options, &recovered, (open, head))?;
        Ok((recovered, journal))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Display for AppendRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueFull => f.write_str("the queue of the journal is full"),
            Self::Failed { error } => write!(f, "the journal has failed: {error}"),
            Self::Empty => f.write_str("the batch has no record"),
            Self::TooLarge { bytes, limit } => write!(f, "the batch has {bytes} bytes, the limit is {limit}"),
            Self::SequenceNotRising { sequence, last } => {
                write!(f, "sequence {sequence} is not above {last}")
            }
        }
    }
}
