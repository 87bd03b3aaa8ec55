//! Journal records and batches. Payloads are opaque.

/// One record. Sequences rise strictly; there may be gaps, because unjournalled inputs have numbers too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub sequence: u64,
    pub kind: u8,
    pub payload: Vec<u8>,
}

/// Records that survive together or not at all, stamped with one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Nanoseconds since 1970, UTC.
    pub time: i64,
    pub records: Vec<Record>,
}

/// A record as it is read back, in the reader's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    pub sequence: u64,
    pub time: i64,
    pub kind: u8,
    pub payload: &'a [u8],
}
