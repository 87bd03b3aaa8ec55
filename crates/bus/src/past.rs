//! Past states: a query answered as it was answered at an earlier sequence or instant.

use std::fmt;

use domain::{Query, Timestamp};

use crate::inbox::reply::Reply;

/// A point in the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastPoint {
    /// After the input of this sequence.
    Sequence(u64),
    /// After the last input at this instant or before it.
    Instant(Timestamp),
}

/// Why a past state could not be asked.
#[derive(Debug)]
pub enum PastError {
    /// Too many ask at the same time; try again.
    Busy,
    /// Its records were deleted, as this says.
    Pruned(String),
    /// Why it failed.
    Failed(String),
}

impl fmt::Display for PastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("too many requests for past states wait; try again"),
            Self::Pruned(reason) => f.write_str(reason),
            Self::Failed(reason) => write!(f, "the past state cannot be read: {reason}"),
        }
    }
}

/// States of the past.
pub trait PastStates: Send + Sync {
    /// The answer then, with the sequence that it reflects. Everything up to the point must be durable. Blocks.
    fn answer(&self, at: PastPoint, query: &Query) -> Result<Reply, PastError>;
}
