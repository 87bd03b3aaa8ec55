//! Sizes and limits of a journal.

use super::format::chain::{ChainAnchor, InstanceId};
use super::sync_mode::SyncMode;
use crate::StorageError;

const DEFAULT_SEGMENT_BYTES: u64 = 64 << 20;
const SMALLEST_SEGMENT_BYTES: u64 = 1 << 10;
const LARGEST_SEGMENT_BYTES: u64 = 1 << 30;
const DEFAULT_QUEUE_BATCHES: usize = 4096;
const DEFAULT_QUEUE_BYTES: usize = 16 << 20;

/// A sequence that another file of the data folder knows to be durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSequence {
    /// The journal must reach this far.
    pub sequence: u64,
    /// Which file knows it, and what: part of a sentence.
    pub says: String,
}

/// Where a start may begin to check: a snapshot knows the journal up to there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartAnchor {
    /// What comes after it is replayed.
    pub snapshot: u64,
    /// The chain's head when the snapshot was written: the journal must have this frame.
    pub head: ChainAnchor,
    /// Which file knows it: part of a sentence.
    pub says: String,
}

#[derive(Debug, Clone)]
pub struct JournalOptions {
    /// Whose journal it is. See `instance_of` for one that exists.
    pub instance: InstanceId,
    pub sync: SyncMode,
    /// The size of new segments.
    pub segment_bytes: u64,
    /// Batches that may wait for the writer.
    pub queue_batches: usize,
    /// A batch is taken while fewer bytes than this are waiting.
    pub queue_bytes: usize,
    /// What others remember: a journal that has less is not opened.
    pub witnesses: Vec<KnownSequence>,
    /// Segments before it are not read at the start, only their headers.
    pub anchor: Option<StartAnchor>,
}

impl JournalOptions {
    pub fn new(instance: InstanceId) -> Self {
        Self {
            instance,
            sync: SyncMode::Always,
            segment_bytes: DEFAULT_SEGMENT_BYTES,
            queue_batches: DEFAULT_QUEUE_BATCHES,
            queue_bytes: DEFAULT_QUEUE_BYTES,
            witnesses: Vec::new(),
            anchor: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), StorageError> {
        let refuse = |name, reason| Err(StorageError::Setting { name, reason });
        if !(SMALLEST_SEGMENT_BYTES..=LARGEST_SEGMENT_BYTES).contains(&self.segment_bytes) {
            let reason = format!("must be {SMALLEST_SEGMENT_BYTES} to {LARGEST_SEGMENT_BYTES}");
            return refuse("journal.segment-bytes", reason);
        }
        if self.queue_batches == 0 || self.queue_bytes == 0 {
            return refuse("journal.queue", "must have room for at least one batch".to_owned());
        }
        Ok(())
    }
}
