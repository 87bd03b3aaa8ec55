//! Sealed frames: the bytes of one commit as they lie on the disk, and the check that one continues the other.
//!
//! A frame fits one offset of one segment only. So the first frame of a segment carries the segment's header: with both, another
//! machine can write the same file byte for byte.

use std::fmt;

use super::chain::{ChainAnchor, ChainHash, InstanceId};
use super::frame::{JournalFrame, RecordCursor};
use super::record::JournalEntry;
use super::segment::{HEADER_BYTES, SegmentHeader};
use crate::StorageError;
use crate::block::{self, BlockPosition, HEAD_BYTES};

/// The bytes of a segment's header.
pub type SegmentHeaderBytes = [u8; HEADER_BYTES];

/// One frame, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedFrame {
    /// Of the segment that this frame begins; none inside a segment.
    pub segment: Option<SegmentHeaderBytes>,
    pub bytes: Vec<u8>,
}

impl SealedFrame {
    /// No frame is longer than this, its segment's header included.
    pub const BYTES_MAX: usize = HEADER_BYTES + block::LIMIT_BYTES;

    /// What the next frame continues from.
    pub fn hash(&self) -> ChainHash {
        ChainHash::compute(&self.bytes)
    }

    /// The sequence of its last record.
    pub fn last_sequence(&self) -> Result<u64, StorageError> {
        let failed = |reason: &str| StorageError::Failed { reason: reason.to_owned() };
        let body = self.bytes.get(HEAD_BYTES..).ok_or_else(|| failed("it is shorter than the head of a frame"))?;
        JournalFrame::parse(body).map(|frame| frame.last).map_err(failed)
    }

    /// Its records, of a frame that was checked.
    pub fn records(&self) -> impl Iterator<Item = JournalEntry<'_>> {
        let body = self.bytes.get(HEAD_BYTES..).unwrap_or_default();
        let mut cursor = RecordCursor::start();
        std::iter::from_fn(move || cursor.next(body))
    }

    pub fn len(&self) -> usize {
        self.segment.map_or(0, |header| header.len()) + self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// The end of a chain of frames: what the next frame must continue, and where it must lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameChain {
    instance: InstanceId,
    /// None before the first frame.
    segment: Option<SegmentEndPoint>,
    head: ChainHash,
    last_sequence: u64,
}

/// Where the next frame of the last segment goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SegmentEndPoint {
    number: u64,
    capacity: u64,
    seed: u32,
    offset: u64,
}

/// Why a frame is not the next one of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainError {
    /// The frame, or its segment, belongs to another journal.
    OtherInstance { found: InstanceId, expected: InstanceId },
    /// It continues another frame than the last one of the chain.
    NotContinued { found: ChainHash, expected: ChainHash },
    /// The bytes are no frame for this place.
    Damaged { reason: String },
}

impl FrameChain {
    /// Before the first frame of a journal.
    pub fn start(instance: InstanceId) -> Self {
        Self { instance, segment: None, head: ChainHash::GENESIS, last_sequence: 0 }
    }

    /// Behind the frame `end`, whose segment has this number, capacity and place for the next frame; none where there is no frame.
    pub(crate) fn resume(instance: InstanceId, segment: Option<(u64, u64, BlockPosition)>, end: ChainAnchor) -> Self {
        let segment = segment.map(|(number, capacity, BlockPosition { seed, offset })| SegmentEndPoint {
            number,
            capacity,
            seed,
            offset,
        });
        Self { instance, segment, head: end.hash, last_sequence: end.sequence }
    }

    /// Before the first frame of a segment.
    pub(crate) fn before(header: &SegmentHeader) -> Self {
        let end = ChainAnchor { sequence: header.first.saturating_sub(1), hash: header.previous };
        let place = BlockPosition { seed: 0, offset: 0 };
        let segment = (header.number > 1).then(|| (header.number - 1, 0, place));
        Self::resume(header.instance, segment, end)
    }

    pub fn instance(&self) -> InstanceId {
        self.instance
    }

    /// The last frame.
    pub fn head(&self) -> ChainAnchor {
        ChainAnchor { sequence: self.last_sequence, hash: self.head }
    }

    /// The chain with this frame at its end.
    pub fn with(&self, frame: &SealedFrame) -> Result<Self, ChainError> {
        let (segment, link, first) = match &frame.segment {
            Some(header) => self.begin_segment(header)?,
            None => (self.current_segment()?, self.head, None),
        };
        let checked = self.check_frame(frame, &segment, link)?;
        if first.is_some_and(|first| first != checked.first) {
            return Err(damaged("the first frame has another sequence than its segment"));
        }
        let segment = SegmentEndPoint { offset: segment.offset + frame.bytes.len() as u64, ..segment };
        Ok(Self { instance: self.instance, segment: Some(segment), head: frame.hash(), last_sequence: checked.last })
    }

    fn current_segment(&self) -> Result<SegmentEndPoint, ChainError> {
        self.segment.clone().ok_or_else(|| damaged("the first frame comes without the header of its segment"))
    }

    fn begin_segment(
        &self,
        bytes: &SegmentHeaderBytes,
    ) -> Result<(SegmentEndPoint, ChainHash, Option<u64>), ChainError> {
        let header = SegmentHeader::decode(bytes).map_err(|reason| ChainError::Damaged { reason })?;
        if header.instance != self.instance {
            return Err(ChainError::OtherInstance { found: header.instance, expected: self.instance });
        }
        if header.previous != self.head {
            return Err(ChainError::NotContinued { found: header.previous, expected: self.head });
        }
        let number = self.segment.as_ref().map_or(0, |segment| segment.number) + 1;
        if header.number != number || header.encode() != *bytes {
            return Err(damaged(&format!("it begins segment {}, not segment {number}", header.number)));
        }
        let BlockPosition { seed, offset } = header.frames_start();
        let segment = SegmentEndPoint { number, capacity: header.capacity, seed, offset };
        Ok((segment, header.hash(), Some(header.first)))
    }

    /// The link is compared before the checksum: a whole frame of another place is told from a damaged one.
    fn check_frame(
        &self,
        frame: &SealedFrame,
        segment: &SegmentEndPoint,
        link: ChainHash,
    ) -> Result<JournalFrame, ChainError> {
        let head =
            frame.bytes.first_chunk::<HEAD_BYTES>().ok_or_else(|| damaged("it is shorter than the head of a frame"))?;
        let length = block::length_of(head).map_err(|fault| damaged(&fault.to_string()))?;
        if length != frame.bytes.len() || segment.offset + length as u64 > segment.capacity {
            return Err(damaged("its length does not fit its bytes or its segment"));
        }
        let checked = JournalFrame::parse(&frame.bytes[HEAD_BYTES..]).map_err(damaged)?;
        if checked.previous != link {
            return Err(ChainError::NotContinued { found: checked.previous, expected: link });
        }
        if !block::is_valid(&frame.bytes, BlockPosition { seed: segment.seed, offset: segment.offset }) {
            return Err(damaged("the checksum does not match"));
        }
        if checked.first <= self.last_sequence {
            return Err(damaged("its sequence is not above the frame before it"));
        }
        Ok(checked)
    }
}

fn damaged(reason: &str) -> ChainError {
    ChainError::Damaged { reason: reason.to_owned() }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherInstance { found, expected } => {
                write!(f, "it belongs to the journal of instance {found}, not {expected}")
            }
            Self::NotContinued { found, expected } => write!(f, "it continues frame {found}, not {expected}"),
            Self::Damaged { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for ChainError {}
