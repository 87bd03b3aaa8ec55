//! A frame is one commit: a block whose body is
//!
//! ```text
//! count u32 · first sequence u64 · time i64 · hash of the frame before [32]
//! then per record: sequence u64 · time i64 · kind u8 · length u32 · payload
//! ```
//!
//! All numbers are little-endian. A frame holds whole batches, each record with the time of its own batch.

use super::chain::ChainHash;
use super::record::{JournalBatch, JournalEntry, JournalRecord};
use crate::block::{self, BlockPosition, HEAD_BYTES};

/// A frame without records.
pub(crate) const FRAME_HEAD_BYTES: usize = HEAD_BYTES + 4 + 8 + 8 + 32;
const RECORD_HEAD_BYTES: usize = 8 + 8 + 1 + 4;

/// The largest batch of one frame.
pub(crate) const BATCH_BYTES_MAX: usize = block::LIMIT_BYTES - FRAME_HEAD_BYTES;

/// What a batch adds to a frame.
pub(crate) fn batch_bytes(batch: &JournalBatch) -> usize {
    batch.records.iter().map(record_bytes).sum()
}

pub(crate) fn record_bytes(record: &JournalRecord) -> usize {
    RECORD_HEAD_BYTES.saturating_add(record.payload.len())
}

/// The same records in their order, in parts that each fit a frame.
pub(crate) fn parts(records: Vec<JournalRecord>) -> Vec<Vec<JournalRecord>> {
    let (mut parts, mut part, mut bytes) = (Vec::new(), Vec::with_capacity(records.len()), 0);
    for record in records {
        let more = record_bytes(&record);
        if bytes + more > BATCH_BYTES_MAX {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
        bytes += more;
        part.push(record);
    }
    parts.push(part);
    parts
}

/// Collects batches into the bytes of one frame; the buffer is used again and again.
pub(crate) struct FrameBuilder {
    bytes: Vec<u8>,
    count: u32,
    first: u64,
    last: u64,
    time: i64,
}

impl FrameBuilder {
    pub(crate) fn new() -> Self {
        let mut builder = Self { bytes: Vec::new(), count: 0, first: 0, last: 0, time: 0 };
        builder.clear();
        builder
    }

    pub(crate) fn clear(&mut self) {
        block::begin(&mut self.bytes);
        self.bytes.resize(FRAME_HEAD_BYTES, 0);
        self.count = 0;
    }

    pub(crate) fn push(&mut self, batch: &JournalBatch) {
        for record in &batch.records {
            self.push_record(batch.time, record);
        }
    }

    fn push_record(&mut self, time: i64, record: &JournalRecord) {
        if self.count == 0 {
            (self.first, self.time) = (record.sequence, time);
        }
        self.last = record.sequence;
        self.count += 1;
        let length = u32::try_from(record.payload.len()).expect("batches are measured before they are queued");
        self.bytes.extend_from_slice(&record.sequence.to_le_bytes());
        self.bytes.extend_from_slice(&time.to_le_bytes());
        self.bytes.push(record.kind);
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(&record.payload);
    }

    /// Completes the frame for its place and links it to the one before. Gives the hash for the next.
    pub(crate) fn finish(&mut self, place: BlockPosition, previous: ChainHash) -> ChainHash {
        let mut head = Vec::with_capacity(FRAME_HEAD_BYTES - HEAD_BYTES);
        head.extend_from_slice(&self.count.to_le_bytes());
        head.extend_from_slice(&self.first.to_le_bytes());
        head.extend_from_slice(&self.time.to_le_bytes());
        head.extend_from_slice(&previous.0);
        self.bytes[HEAD_BYTES..FRAME_HEAD_BYTES].copy_from_slice(&head);
        block::seal(&mut self.bytes, place);
        ChainHash::compute(&self.bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

/// The head of a frame whose records have all been checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JournalFrame {
    pub(crate) count: u32,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) previous: ChainHash,
}

impl JournalFrame {
    /// Parses the body of a block whose checksum is good. What fails here was written wrong, not torn.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, &'static str> {
        let mut rest = body;
        let head = (read_bytes(&mut rest), read_bytes(&mut rest), read_bytes::<8>(&mut rest), read_bytes(&mut rest));
        let (Some(count), Some(first), Some(_time), Some(previous)) = head else {
            return Err("the frame is too short for its head");
        };
        let (count, first) = (u32::from_le_bytes(count), u64::from_le_bytes(first));
        let last = check_records(body, count, first)?;
        Ok(Self { count, first, last, previous: ChainHash(previous) })
    }
}

/// Walks the records; gives the last sequence.
fn check_records(body: &[u8], count: u32, first: u64) -> Result<u64, &'static str> {
    let mut cursor = RecordCursor::start();
    let (mut counted, mut last) = (0, None);
    while let Some(entry) = cursor.next(body) {
        match last {
            None if entry.sequence != first => return Err("the first record has another sequence than the frame"),
            Some(before) if entry.sequence <= before => return Err("sequences inside the frame do not rise"),
            _ => last = Some(entry.sequence),
        }
        counted += 1;
    }
    if !cursor.is_at_end(body) || counted != count {
        return Err("the records do not fill the frame");
    }
    last.ok_or("the frame has no record")
}

/// Where in the remains of a broken frame a second one begins. A frame whose head is whole says where it ends itself; in one
/// whose head is not, anything that looks like the head of a later frame counts as one.
pub(crate) fn second_in(remains: &[u8], last: u64) -> Option<usize> {
    let head = remains.first_chunk::<HEAD_BYTES>().and_then(|head| block::length_of(head).ok());
    if let Some(length) = head.filter(|_| looks_like_a_frame(remains, last)) {
        return (length < remains.len()).then_some(length);
    }
    let candidates = remains.windows(block::MAGIC.len()).enumerate().skip(1);
    candidates
        .filter(|(_, window)| *window == block::MAGIC)
        .map(|(at, _)| at)
        .find(|at| looks_like_a_frame(&remains[*at..], last))
}

/// Whether the head of a block and the head of a frame fit each other and the sequence before them.
fn looks_like_a_frame(bytes: &[u8], last: u64) -> bool {
    let Some(length) = bytes.first_chunk::<HEAD_BYTES>().and_then(|head| block::length_of(head).ok()) else {
        return false;
    };
    let mut rest = &bytes[HEAD_BYTES..];
    let (Some(count), Some(first)) = (read_bytes(&mut rest), read_bytes(&mut rest)) else { return false };
    let count = u64::from(u32::from_le_bytes(count));
    let smallest = FRAME_HEAD_BYTES as u64 + count * RECORD_HEAD_BYTES as u64;
    count > 0 && smallest <= length as u64 && u64::from_le_bytes(first) > last
}

/// A place between two records of a frame body; owns nothing, so that a reader can keep it beside its buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordCursor(usize);

impl RecordCursor {
    pub(crate) fn start() -> Self {
        Self(FRAME_HEAD_BYTES - HEAD_BYTES)
    }

    /// The record at the cursor, which then moves behind it.
    pub(crate) fn next<'a>(&mut self, body: &'a [u8]) -> Option<JournalEntry<'a>> {
        let mut rest = body.get(self.0..)?;
        let sequence = u64::from_le_bytes(read_bytes(&mut rest)?);
        let time = i64::from_le_bytes(read_bytes(&mut rest)?);
        let [kind] = read_bytes(&mut rest)?;
        let length = usize::try_from(u32::from_le_bytes(read_bytes(&mut rest)?)).ok()?;
        let payload = rest.get(..length)?;
        self.0 += RECORD_HEAD_BYTES + length;
        Some(JournalEntry { sequence, time, kind, payload })
    }

    fn is_at_end(self, body: &[u8]) -> bool {
        self.0 == body.len()
    }
}

fn read_bytes<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}
