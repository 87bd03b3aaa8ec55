//! Journal writer thread: drain ▸ encode ▸ one write ▸ one sync ▸ note the head ▸ publish ▸ wake.
//!
//! While it syncs, the queue fills, and what it finds afterwards becomes the next frame: group commit without a timer.
//! The first error ends the thread. A sync is never retried, because the operating system may have marked the lost
//! pages as clean, and nothing is published after the error.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError};
use domain::PlantedBug;

use super::format::chain::{ChainAnchor, ChainHash, InstanceId};
use super::format::frame::{FRAME_HEAD_BYTES, FrameBuilder};
use super::format::record::JournalBatch;
use super::format::sealed_frame::{SealedFrame, SegmentHeaderBytes};
use super::format::segment::{self, HEADER_BYTES, SegmentHeader};
use super::head::HeadFile;
use super::release::durability::{DurabilityEvent, DurabilityNotifier};
use super::release::release_gate::ReleaseGate;
use super::replicator::FrameReplicator;
use super::shared::JournalShared;
use super::spare::{SpareSegment, SpareSource};
use super::sync_mode::SyncMode;
use crate::StorageError;
use crate::block::{self, BlockPosition};
use crate::file_system::{FileSystem, WritableFile, write_all_at, zero_fill};

/// A frame that has grown to this size takes no further batch; only a single large batch makes a larger one.
const COMMIT_BYTES: usize = 1 << 20;

/// A batch on its way, with its measured size.
pub(crate) struct QueuedBatch {
    pub(crate) batch: JournalBatch,
    pub(crate) bytes: usize,
}

pub(crate) struct JournalWriter {
    pub(crate) folder: PathBuf,
    pub(crate) disk: Arc<dyn FileSystem>,
    pub(crate) instance: InstanceId,
    pub(crate) capacity: u64,
    pub(crate) sync: SyncMode,
    pub(crate) queue: Receiver<QueuedBatch>,
    pub(crate) carried_over: Option<QueuedBatch>,
    /// The number of the segment before the first one that is left.
    pub(crate) deleted_segments: u64,
    pub(crate) frame: FrameBuilder,
    pub(crate) open: Option<OpenSegment>,
    /// The hash of the last frame.
    pub(crate) head: ChainHash,
    /// Its last sequence.
    pub(crate) last: u64,
    pub(crate) head_file: HeadFile,
    pub(crate) spares: SpareSource,
    /// When the oldest write that is not synced was made.
    pub(crate) unsynced: Option<Instant>,
    /// Who copies the frames to other machines; none where the journal is on this one alone.
    pub(crate) replicator: Option<Box<dyn FrameReplicator>>,
    /// Holds back what standbys do not have yet; none where none is waited for.
    pub(crate) gate: Option<Arc<ReleaseGate>>,
    /// Of a segment whose first frame is not written yet.
    pub(crate) new_header: Option<SegmentHeaderBytes>,
    pub(crate) shared: Arc<JournalShared>,
    pub(crate) notifier: DurabilityNotifier,
}

/// The writer on the thread of its caller, for whoever gives each commit its time.
pub struct JournalWorker(Option<JournalWriter>);

impl JournalWorker {
    pub(crate) fn new(writer: JournalWriter) -> Self {
        Self(Some(writer))
    }

    /// Whether a batch waits for a commit.
    pub fn has_work(&self) -> bool {
        self.0.as_ref().is_some_and(|writer| writer.carried_over.is_some() || !writer.queue.is_empty())
    }

    /// One commit of what waits. After the first failure there are no more.
    pub fn commit(&mut self) {
        if let Some(writer) = &mut self.0
            && let Err(error) = writer.commit_waiting()
        {
            writer.fail(&error);
            self.0 = None;
        }
    }
}

/// The segment that is written.
pub(crate) struct OpenSegment {
    pub(crate) path: PathBuf,
    pub(crate) medium: Box<dyn WritableFile>,
    pub(crate) number: u64,
    pub(crate) capacity: u64,
    /// Where the next frame goes.
    pub(crate) position: BlockPosition,
}

impl JournalWriter {
    pub(crate) fn run(mut self) {
        if let Err(error) = self.serve() {
            self.fail(&error);
        }
    }

    fn fail(&self, error: &StorageError) {
        let error = error.to_string();
        if let Some(gate) = &self.gate {
            gate.close();
        }
        tracing::error!(%error, "journal write or sync failed; nothing more is durable");
        self.shared.fail(error.clone());
        self.notifier.notify(DurabilityEvent::Failed { error });
    }

    fn serve(&mut self) -> Result<(), StorageError> {
        while let Some(queued) = self.wait()? {
            self.build_frame(queued)?;
            self.commit()?;
        }
        self.sync_if_needed()
    }

    fn commit_waiting(&mut self) -> Result<(), StorageError> {
        let waiting = self.carried_over.take().or_else(|| self.queue.try_recv().ok());
        let Some(queued) = waiting else { return Ok(()) };
        self.build_frame(queued)?;
        self.commit()
    }

    /// The next batch, or none when the journal closes. Syncs when the interval ends while nothing comes.
    fn wait(&mut self) -> Result<Option<QueuedBatch>, StorageError> {
        if let Some(held) = self.carried_over.take() {
            return Ok(Some(held));
        }
        loop {
            let Some(due) = self.sync_due() else { return Ok(self.queue.recv().ok()) };
            match self.queue.recv_deadline(due) {
                Ok(queued) => return Ok(Some(queued)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => self.sync_if_needed()?,
            }
        }
    }

    fn sync_due(&self) -> Option<Instant> {
        match self.sync {
            SyncMode::Interval(every) => self.unsynced.and_then(|since| since.checked_add(every)),
            SyncMode::Always | SyncMode::Os => None,
        }
    }

    /// Puts everything that waits into one frame, as far as the segment has room.
    fn build_frame(&mut self, first: QueuedBatch) -> Result<(), StorageError> {
        self.frame.clear();
        if !self.has_room(FRAME_HEAD_BYTES + first.bytes) {
            let record = first.batch.records.first().expect("empty batches are refused");
            self.roll(record.sequence, FRAME_HEAD_BYTES + first.bytes)?;
        }
        self.add_batch(&first);
        while self.frame.bytes().len() < COMMIT_BYTES {
            let Ok(next) = self.queue.try_recv() else { break };
            let bytes = self.frame.bytes().len() + next.bytes;
            // A longer frame could be written, and would be taken for damage when it is read.
            if bytes > block::LIMIT_BYTES || !self.has_room(bytes) {
                self.carried_over = Some(next);
                break;
            }
            self.add_batch(&next);
        }
        Ok(())
    }

    fn add_batch(&mut self, queued: &QueuedBatch) {
        self.shared.record_taken(queued.bytes);
        self.frame.push(&queued.batch);
    }

    fn has_room(&self, frame_bytes: usize) -> bool {
        self.open.as_ref().is_some_and(|open| open.capacity.saturating_sub(open.position.offset) >= frame_bytes as u64)
    }

    fn commit(&mut self) -> Result<(), StorageError> {
        let open = self.open.as_mut().expect("gather opens a segment for its frame");
        let head = self.frame.finish(open.position, self.head);
        let segment = self.new_header.take();
        if let Some(replicator) = &mut self.replicator {
            // While the others write it, so does this machine.
            replicator.begin(SealedFrame { segment, bytes: self.frame.bytes().to_vec() });
        }
        open.write(self.frame.bytes())?;
        (self.head, self.last) = (head, self.frame.last());
        self.unsynced.get_or_insert_with(Instant::now);
        if self.must_sync_now() && !PlantedBug::AcknowledgeBeforeSync.is_planted() {
            self.sync_if_needed()?;
        }
        self.finish_replication()?;
        self.shared.record_frame(self.frame.count(), self.frame.bytes().len());
        self.release(self.frame.last());
        Ok(())
    }

    fn release(&self, last: u64) {
        self.shared.record_committed(last);
        match &self.gate {
            Some(gate) => gate.commit(last),
            None => {
                self.shared.publish(last);
                self.notifier.notify(DurabilityEvent::Advanced { to: last });
            }
        }
    }

    /// A frame counts when the others have it too. Only then does the head know it: one that they do not have may be cut again.
    fn finish_replication(&mut self) -> Result<(), StorageError> {
        if let Some(replicator) = &mut self.replicator {
            replicator.finish().map_err(|reason| StorageError::Failed { reason })?;
            self.head_file.note(self.last, self.head);
        }
        Ok(())
    }

    /// Writes a frame that another process sealed, and does not sync it.
    pub(crate) fn write_sealed(&mut self, frame: &SealedFrame, end: ChainAnchor) -> Result<(), StorageError> {
        if let Some(header) = &frame.segment {
            let header = SegmentHeader::decode(header).map_err(|reason| StorageError::Failed { reason })?;
            self.begin_segment(&header)?;
            self.new_header = None;
        }
        let open = self.open.as_mut().expect("a frame without a header continues a segment");
        open.write(&frame.bytes)?;
        (self.head, self.last) = (end.hash, end.sequence);
        self.unsynced.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// The last frame.
    pub(crate) fn end(&self) -> ChainAnchor {
        ChainAnchor { sequence: self.last, hash: self.head }
    }

    /// Makes durable what was written, and says so.
    pub(crate) fn sync_sealed(&mut self) -> Result<(), StorageError> {
        self.sync_if_needed()?;
        self.shared.record_committed(self.last);
        self.shared.publish(self.last);
        Ok(())
    }

    fn must_sync_now(&self) -> bool {
        match self.sync {
            SyncMode::Always => true,
            SyncMode::Interval(_) => self.sync_due().is_some_and(|due| due <= Instant::now()),
            SyncMode::Os => false,
        }
    }

    fn sync_if_needed(&mut self) -> Result<(), StorageError> {
        if let (Some(open), Some(_)) = (&self.open, self.unsynced) {
            let begun = Instant::now();
            if PlantedBug::HeadBeforeSync.is_planted() {
                self.head_file.note(self.last, self.head);
            }
            open.medium.sync().map_err(StorageError::io("sync", &open.path))?;
            self.shared.record_sync(begun.elapsed());
            self.unsynced = None;
            // Only what is synced: in no mode may it claim more.
            if self.replicator.is_none() {
                self.head_file.note(self.last, self.head);
            }
        }
        Ok(())
    }

    /// Goes on in a new segment. A frame that is larger than a usual segment makes its own as large as it is.
    fn roll(&mut self, first: u64, frame_bytes: usize) -> Result<(), StorageError> {
        let number = self.open.as_ref().map_or(self.deleted_segments, |open| open.number) + 1;
        let capacity = self.capacity.max((HEADER_BYTES + frame_bytes) as u64);
        let header = SegmentHeader { instance: self.instance, number, first, capacity, previous: self.head };
        self.begin_segment(&header)
    }

    /// The header is durable before the file gets its name, so a segment by name always has a good header; and the old segment is
    /// synced before, in every mode, so the chain has no hole.
    fn begin_segment(&mut self, header: &SegmentHeader) -> Result<(), StorageError> {
        self.sync_if_needed()?;
        let spare = self.spares.acquire()?;
        let path = self.folder.join(segment::file_name(header.first));
        self.resize(&spare, header.capacity)
            .and_then(|()| write_all_at(spare.medium.as_ref(), &header.encode(), 0))
            .and_then(|()| if PlantedBug::UnsyncedSegmentHeader.is_planted() { Ok(()) } else { spare.medium.sync() })
            .and_then(|()| self.disk.rename(&spare.path, &path))
            .map_err(StorageError::io("begin", &path))?;
        self.spares.request();
        (self.head, self.new_header) = (header.hash(), Some(header.encode()));
        let (number, capacity, position) = (header.number, header.capacity, header.frames_start());
        self.open = Some(OpenSegment { path, medium: spare.medium, number, capacity, position });
        Ok(())
    }

    /// A spare has the size of this journal's own segments; one of another process may have another.
    fn resize(&self, spare: &SpareSegment, capacity: u64) -> io::Result<()> {
        match capacity < self.capacity {
            true => self.disk.truncate(&spare.path, capacity),
            false => zero_fill(spare.medium.as_ref(), self.capacity, capacity),
        }
    }
}

impl OpenSegment {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        write_all_at(self.medium.as_ref(), bytes, self.position.offset)
            .map_err(StorageError::io("write", &self.path))?;
        self.position.offset += bytes.len() as u64;
        Ok(())
    }
}
