//! Why a follower cannot go on.

use std::fmt;

use crate::StorageError;
use crate::replication::port::LogError;

/// What ends a follower.
#[derive(Debug)]
pub enum FollowError {
    /// One that is only unavailable may answer later.
    Log(LogError),
    /// The journal may lack a part of what was read: only a new start finds its place again.
    Storage(StorageError),
    /// The log begins behind a frame that the own journal does not have.
    Behind { begins: u64, ends: u64 },
    /// The log has no entries, but this journal has records.
    EmptyLog { ends: u64 },
    /// The cursor file fits neither the journal nor the instance.
    Cursor { reason: String },
}

impl From<LogError> for FollowError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<StorageError> for FollowError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl fmt::Display for FollowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(error) => error.fmt(f),
            Self::Storage(error) => error.fmt(f),
            Self::Behind { begins, ends } if begins > ends => write!(
                f,
                "the log begins behind record {begins}, and the journal of this folder ends at {ends}: what is between is no longer in the \
                 log. Take a backup of a member that has it, and restore it with --as-member in the place of this folder"
            ),
            Self::Behind { begins, ends } => write!(
                f,
                "the log begins behind record {begins}, and the journal of this folder, which ends at {ends}, has another record there or \
                 no longer has it. Restore a backup of another member with --as-member in the place of this folder"
            ),
            Self::EmptyLog { ends } => write!(
                f,
                "the log has no entries, but the journal of this folder has records up to {ends}: the log is lost, or was never begun. \
                 rialto ha rebuild-log begins it from a folder; before, make sure that the addresses of the cluster file are right"
            ),
            Self::Cursor { reason } => write!(f, "the file `replication` does not fit: {reason}"),
        }
    }
}

impl std::error::Error for FollowError {}
