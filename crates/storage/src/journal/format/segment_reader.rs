//! Reads the frames of one segment and checks each against the one before.

use std::fs::File;
use std::path::Path;

use super::chain::ChainHash;
use super::frame::{self, JournalFrame};
use super::segment::{Segment, SegmentHeader};
use super::torn_frame;
use crate::StorageError;
use crate::block::{self, BlockError, BlockReader};
use crate::tail::{self, FileTail};

pub(crate) struct SegmentReader {
    segment: Segment,
    blocks: BlockReader,
    head: ChainHash,
    last_sequence: Option<u64>,
}

/// What is found where the frames of the last segment seem to end.
pub(crate) enum SegmentEnd {
    Clean,
    Torn {
        bytes: u64,
    },
    /// It was not the end: a writer has finished this frame meanwhile.
    Grown(JournalFrame),
}

impl SegmentReader {
    pub(crate) fn new(segment: Segment, file: File) -> Result<Self, StorageError> {
        let (start, head) = (segment.header.frames_start(), segment.header.hash());
        let blocks =
            BlockReader::new(file, start, segment.header.capacity).map_err(StorageError::io("read", &segment.path))?;
        Ok(Self { segment, blocks, head, last_sequence: None })
    }

    /// The next frame, or why there is none here. A whole frame that does not fit the chain is damage.
    pub(crate) fn step(&mut self) -> Result<Result<JournalFrame, BlockError>, StorageError> {
        let at = self.offset();
        if let Err(fault) = self.blocks.step().map_err(StorageError::io("read", &self.segment.path))? {
            return Ok(Err(fault));
        }
        let frame = JournalFrame::parse(self.blocks.body())
            .and_then(|frame| self.check_link(frame))
            .map_err(|reason| StorageError::damaged(&self.segment.path, at, reason))?;
        self.head = ChainHash::compute(self.blocks.block());
        self.last_sequence = Some(frame.last);
        Ok(Ok(frame))
    }

    fn check_link(&self, frame: JournalFrame) -> Result<JournalFrame, &'static str> {
        if frame.previous != self.head {
            return Err("the frame does not continue the one before it");
        }
        match self.last_sequence {
            Some(last) if frame.first <= last => Err("the sequence of the frame is not above the one before it"),
            None if frame.first != self.segment.header.first => {
                Err("the first frame has another sequence than its segment")
            }
            _ => Ok(frame),
        }
    }

    /// Judges the end of a segment behind which another begins: it must end with the frame that one continues.
    pub(crate) fn check_sealed(&self, fault: BlockError, next: &SegmentHeader) -> Result<(), StorageError> {
        if next.previous == self.head {
            return Ok(());
        }
        let reason = format!("{fault}, and the next segment continues a frame that is not here");
        Err(StorageError::damaged(self.path(), self.offset(), reason))
    }

    /// Judges the end of the last segment: what is broken at the very end was torn, what is broken before is damage.
    pub(crate) fn check_last(&mut self) -> Result<SegmentEnd, StorageError> {
        let judged = tail::inspect(self.blocks.file(), self.blocks.position(), self.blocks.end())
            .map_err(StorageError::io("read", self.path()))?;
        match judged {
            FileTail::Clean => Ok(SegmentEnd::Clean),
            FileTail::Torn { bytes } => {
                self.check_one_frame(bytes)?;
                match self.harm()? {
                    None => Ok(SegmentEnd::Torn { bytes }),
                    Some(reason) => self.grown_or(|_| reason),
                }
            }
            FileTail::Followed { by } => {
                self.grown_or(|fault| format!("{fault}, but a good frame follows at offset {by}"))
            }
        }
    }

    /// Looks again before damage is told of: a writer may have been at work.
    fn grown_or(&mut self, reason: impl FnOnce(BlockError) -> String) -> Result<SegmentEnd, StorageError> {
        match self.step()? {
            Ok(frame) => Ok(SegmentEnd::Grown(frame)),
            Err(fault) => Err(StorageError::damaged(self.path(), self.offset(), reason(fault))),
        }
    }

    /// Why what is broken at the very end was not torn, where that can be told.
    fn harm(&self) -> Result<Option<String>, StorageError> {
        let longest = (self.blocks.end() - self.offset()).min(block::LIMIT_BYTES as u64);
        let remains = tail::read_range(self.blocks.file(), self.offset(), longest);
        let remains = remains.map_err(StorageError::io("read", self.path()))?;
        let continues = |frame: &[u8]| {
            let frame = JournalFrame::parse(&frame[block::HEAD_BYTES..]);
            frame.and_then(|frame| self.check_link(frame)).is_ok()
        };
        Ok(torn_frame::harm(&remains, self.blocks.position(), continues))
    }

    /// One write is under way at most, so a crash can tear one frame and no more.
    fn check_one_frame(&self, bytes: u64) -> Result<(), StorageError> {
        let file = self.blocks.file();
        let remains = tail::read_range(file, self.offset(), bytes).map_err(StorageError::io("read", self.path()))?;
        match frame::second_in(&remains, self.last_sequence.unwrap_or(0)) {
            None => Ok(()),
            Some(second) => {
                let second = self.offset() + second as u64;
                let reason = format!("more than the last frame is broken, another one begins at offset {second}");
                Err(StorageError::damaged(self.path(), self.offset(), reason))
            }
        }
    }

    /// The body of the frame last stepped to.
    pub(crate) fn body(&self) -> &[u8] {
        self.blocks.body()
    }

    /// All of that frame.
    pub(crate) fn block(&self) -> &[u8] {
        self.blocks.block()
    }

    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    pub(crate) fn path(&self) -> &Path {
        &self.segment.path
    }

    /// Where the next frame is expected.
    pub(crate) fn offset(&self) -> u64 {
        self.blocks.position().offset
    }

    pub(crate) fn head(&self) -> ChainHash {
        self.head
    }
}
