//! What a reader of the log gets.

use super::types::{CandidateId, Epoch, LogPosition};
use crate::journal::SealedFrame;

/// An entry of the log, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEvent {
    /// A new leader.
    Led { position: LogPosition, epoch: Epoch, candidate: CandidateId },
    /// The next frame of the journal.
    Frame { position: LogPosition, epoch: Epoch, frame: SealedFrame },
    /// An entry that does not count.
    Dropped { position: LogPosition, epoch: Epoch, reason: DropReason },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Written for an older epoch behind the record of a newer one: its leader never had it accepted.
    OldEpoch,
    /// The entry before it, once more.
    Repeated,
}
