//! Journal reader, from a sequence on; one frame in memory at a time.
//!
//! It may follow a journal that is being written: at the end it finds nothing, and later it finds more.

use std::path::{Path, PathBuf};

use domain::Timestamp;

use super::format::chain::{ChainAnchor, InstanceId};
use super::format::floor::{self, JournalFloor};
use super::format::frame::RecordCursor;
use super::format::record::JournalEntry;
use super::format::sealed_frame::{ChainError, FrameChain, SealedFrame};
use super::format::segment::{self, HEADER_BYTES, Segment};
use super::format::segment_reader::{SegmentEnd, SegmentReader};
use super::scan::ScanProgress;
use crate::StorageError;

pub struct JournalReader {
    folder: PathBuf,
    from: u64,
    /// None until a first segment exists.
    frames: Option<SegmentReader>,
    /// The record that comes next in the current frame.
    cursor: RecordCursor,
    /// Whether there is a current frame.
    in_frame: bool,
    /// Bytes of the segments that are done.
    read_before: u64,
}

impl JournalReader {
    /// Stands before the first record whose sequence is `from` or above. Refused where records from there on were deleted.
    pub fn open(folder: &Path, from: u64) -> Result<Self, StorageError> {
        JournalFloor::check_has(floor::read_floor(folder)?, from)?;
        let mut reader = Self {
            folder: folder.to_owned(),
            from,
            frames: None,
            cursor: RecordCursor::start(),
            in_frame: false,
            read_before: 0,
        };
        reader.enter_first_segment()?;
        Ok(reader)
    }

    /// Moves to the next record up to and with the sequence `limit`, and lends it. None means that there is none yet. A
    /// live journal has frames that are written but not durable: a follower passes the durable sequence as the limit.
    pub fn read_to(&mut self, limit: u64) -> Result<Option<JournalEntry<'_>>, StorageError> {
        // Answered without disk access, so that a follower may poll often.
        if self.from > limit {
            return Ok(None);
        }
        loop {
            match self.peek().map(|entry| entry.sequence) {
                Some(sequence) if sequence > limit => return Ok(None),
                Some(sequence) if sequence >= self.from => return Ok(self.advance(sequence)),
                Some(_) => self.skip(),
                None if self.enter_next_frame()? => {}
                None => return Ok(None),
            }
        }
    }

    /// All records from here to the present end, for replay. `visit` may refuse and so end it.
    pub fn replay<E: From<StorageError>>(
        self,
        visit: &mut dyn FnMut(JournalEntry<'_>) -> Result<(), E>,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<(), E> {
        self.replay_to(u64::MAX, visit, progress)
    }

    /// As [`Self::replay`], up to and with the sequence `limit`.
    pub fn replay_to<E: From<StorageError>>(
        mut self,
        limit: u64,
        visit: &mut dyn FnMut(JournalEntry<'_>) -> Result<(), E>,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<(), E> {
        let total = self.total_bytes()?;
        let mut reported = None;
        while let Some(entry) = self.read_to(limit)? {
            visit(entry)?;
            let read = self.read_before + self.frames.as_ref().map_or(0, SegmentReader::offset);
            if reported.replace(read) != Some(read) {
                progress(ScanProgress { read: read.min(total), total });
            }
        }
        progress(ScanProgress { read: total, total });
        Ok(())
    }

    /// The next frame as it lies on the disk, from the first one of the segment that holds `from`. None means that there is none
    /// yet. A live journal has frames that are written but not durable; this method does not tell them apart.
    pub fn next_sealed(&mut self) -> Result<Option<SealedFrame>, StorageError> {
        if !self.enter_next_frame()? {
            return Ok(None);
        }
        self.in_frame = false;
        let sealed = |frames: &SegmentReader| {
            let bytes = frames.block().to_vec();
            let begins_segment = frames.offset() - bytes.len() as u64 == HEADER_BYTES as u64;
            SealedFrame { segment: begins_segment.then(|| frames.segment().header.encode()), bytes }
        };
        Ok(self.frames.as_ref().map(sealed))
    }

    fn peek(&self) -> Option<JournalEntry<'_>> {
        let frames = self.frames.as_ref().filter(|_| self.in_frame)?;
        let mut cursor = self.cursor;
        cursor.next(frames.body())
    }

    /// Takes the record at the cursor, whose sequence was seen: from now on what comes after it is wanted.
    fn advance(&mut self, sequence: u64) -> Option<JournalEntry<'_>> {
        self.from = sequence.saturating_add(1);
        self.cursor.next(self.frames.as_ref()?.body())
    }

    fn skip(&mut self) {
        if let Some(frames) = &self.frames {
            self.cursor.next(frames.body());
        }
    }

    fn enter_first_segment(&mut self) -> Result<bool, StorageError> {
        let listed = segment::list(&self.folder)?;
        let holding = listed.iter().rev().find(|(first, _)| *first <= self.from).or(listed.first());
        let Some((_, path)) = holding else { return Ok(false) };
        self.enter(path.clone())?;
        Ok(true)
    }

    fn enter(&mut self, path: PathBuf) -> Result<(), StorageError> {
        let (segment, file) = Segment::open(path)?;
        self.frames = Some(SegmentReader::new(segment, file)?);
        Ok(())
    }

    fn enter_next_frame(&mut self) -> Result<bool, StorageError> {
        self.in_frame = false;
        if self.frames.is_none() && !self.enter_first_segment()? {
            return Ok(false);
        }
        loop {
            match self.step()? {
                ReadStep::Frame => break,
                ReadStep::NextSegment => {}
                ReadStep::End => return Ok(false),
            }
        }
        (self.cursor, self.in_frame) = (RecordCursor::start(), true);
        Ok(true)
    }

    fn step(&mut self) -> Result<ReadStep, StorageError> {
        let Some(frames) = &mut self.frames else { return Ok(ReadStep::End) };
        if frames.step()?.is_ok() {
            return Ok(ReadStep::Frame);
        }
        let Some(next) = next_segment(&self.folder, frames.segment())? else {
            // A torn or blank end is simply the end; damage is an error.
            let grown = matches!(frames.check_last()?, SegmentEnd::Grown(_));
            return Ok(if grown { ReadStep::Frame } else { ReadStep::End });
        };
        // Asked once more: the writer may have added frames here before it went on to the next segment.
        let Err(fault) = frames.step()? else { return Ok(ReadStep::Frame) };
        frames.check_sealed(fault, &next.header)?;
        self.read_before += frames.segment().header.capacity;
        self.enter(next.path)?;
        Ok(ReadStep::NextSegment)
    }

    fn total_bytes(&self) -> Result<u64, StorageError> {
        let start = self.frames.as_ref().map_or(0, |frames| frames.segment().header.first);
        let listed = segment::list(&self.folder)?;
        let ahead = listed.iter().filter(|(first, _)| *first >= start);
        segment::total_bytes(ahead.map(|(_, path)| path.as_path()))
    }
}

/// The chain behind the frame `end` of a journal; none where the journal has no such frame.
pub fn chain_at(folder: &Path, instance: InstanceId, end: ChainAnchor) -> Result<Option<FrameChain>, StorageError> {
    if end.sequence == 0 {
        return Ok((end.hash == FrameChain::start(instance).head().hash).then(|| FrameChain::start(instance)));
    }
    let mut reader = JournalReader::open(folder, end.sequence)?;
    let Some(frames) = &reader.frames else { return Ok(None) };
    let mut chain = FrameChain::before(&frames.segment().header);
    while let Some(frame) = reader.next_sealed()? {
        let not_continued = |error: ChainError| StorageError::Failed { reason: error.to_string() };
        chain = chain.with(&frame).map_err(not_continued)?;
        if chain.head().sequence >= end.sequence {
            break;
        }
    }
    Ok((chain.head() == end && chain.instance() == instance).then_some(chain))
}

/// When the record of a sequence was stamped; none where the journal has no such record.
pub fn input_time(folder: &Path, sequence: u64) -> Result<Option<Timestamp>, StorageError> {
    let mut reader = JournalReader::open(folder, sequence)?;
    let entry = reader.read_to(sequence)?;
    Ok(entry.map(|entry| Timestamp(entry.time)))
}

enum ReadStep {
    Frame,
    NextSegment,
    End,
}

fn next_segment(folder: &Path, current: &Segment) -> Result<Option<Segment>, StorageError> {
    let listed = segment::list(folder)?;
    let Some((_, path)) = listed.into_iter().find(|(first, _)| *first > current.header.first) else {
        return Ok(None);
    };
    let next = Segment::look(path)?;
    if let Err(gap) = next.check_follows(Some(current)) {
        // Those in between may have been deleted since this reader began.
        JournalFloor::check_has(floor::read_floor(folder)?, current.header.first)?;
        return Err(gap);
    }
    Ok(Some(next))
}
