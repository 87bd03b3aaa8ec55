//! What a reader of the log gets.

use super::types::{CandidateId, Epoch, LogPosition};
use crate::journal::{ChainAnchor, InstanceId, SealedFrame};

/// An entry of the log, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEvent {
    /// A new leader.
    Led { position: LogPosition, epoch: Epoch, candidate: CandidateId },
    /// The next frame of the journal.
    Frame { position: LogPosition, epoch: Epoch, frame: SealedFrame },
    /// A place at which a log may begin; nothing else changes.
    Marked { position: LogPosition, epoch: Epoch },
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

/// What the first entry of a log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogBeginning {
    pub position: LogPosition,
    /// Whose journal it is. A process that has no journal yet takes that identity.
    pub instance: InstanceId,
    pub epoch: Epoch,
    /// None where nobody has led yet.
    pub leader: Option<CandidateId>,
    /// The last frame before the log.
    pub after: ChainAnchor,
    pub(crate) is_epoch_record: bool,
}
