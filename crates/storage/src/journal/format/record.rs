//! Journal records and batches. Payloads are opaque.

/// One record. Sequences rise strictly; there may be gaps, because unjournalled inputs have numbers too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRecord {
    pub sequence: u64,
    pub kind: u8,
    pub payload: Vec<u8>,
}

/// Records that survive together or not at all, stamped with one time. More than a frame holds (16 MiB) survive part by part, in
/// their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalBatch {
    /// Nanoseconds since 1970, UTC.
    pub time: i64,
    pub records: Vec<JournalRecord>,
}

/// A record as it is read back, in the reader's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalEntry<'a> {
    pub sequence: u64,
    pub time: i64,
    pub kind: u8,
    pub payload: &'a [u8],
}
