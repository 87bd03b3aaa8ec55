//! Epochs, positions and ids of a replicated log.

use std::fmt;

use crate::journal::{ChainHash, InstanceId};

/// The term of one leader: 1, 2, 3, …; 0 before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Epoch(pub u64);

impl Epoch {
    /// None after the largest number.
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

/// The number of an entry of the log: 1, 2, 3, … without gaps; 0 before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LogPosition(pub u64);

impl LogPosition {
    /// Before the first entry.
    pub const START: Self = Self(0);

    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// One life of one process that wants to lead; random, never used twice. Two candidates of one epoch, and a process and its own
/// restart, are told apart by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CandidateId(pub [u8; 16]);

impl CandidateId {
    /// Behind the member, where other candidates say how long their lease is.
    const REBUILD_MARK: [u8; 4] = *b"RBLD";
    const REBUILD_MARK_AT: usize = 8;

    /// The same process, which begins a log anew and never trades. What it writes ends with a mark.
    #[must_use]
    pub fn for_rebuild(mut self) -> Self {
        self.0[Self::REBUILD_MARK_AT..][..Self::REBUILD_MARK.len()].copy_from_slice(&Self::REBUILD_MARK);
        self
    }

    pub fn is_of_rebuild(self) -> bool {
        self.0[Self::REBUILD_MARK_AT..].starts_with(&Self::REBUILD_MARK)
    }
}

/// One data folder of a cluster, through all lives of its processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberId(pub [u8; 8]);

/// What an engine knows a repeated entry by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(String);

impl MessageId {
    /// With the candidate: otherwise a second candidate of the same epoch would be told that its record is there already.
    pub fn of_epoch_record(epoch: Epoch, candidate: CandidateId, expected: LogPosition) -> Self {
        Self(format!("epoch-{epoch}-{candidate}-{expected}"))
    }

    /// With the hash: another frame of the same sequence is another message.
    pub fn of_frame(epoch: Epoch, expected: LogPosition, hash: ChainHash) -> Self {
        Self(format!("frame-{epoch}-{expected}-{hash}"))
    }

    /// With instance and hash: several processes may begin a log at once, each with its own journal.
    pub fn of_mark(epoch: Epoch, expected: LogPosition, instance: InstanceId, hash: ChainHash) -> Self {
        Self(format!("mark-{epoch}-{expected}-{instance}-{hash}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
