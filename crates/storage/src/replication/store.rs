//! Log store: the three calls that an engine behind the port must offer.

use super::cursor::EntryFault;
use super::entry::LogEntry;
use super::port::LogError;
use super::types::{LogPosition, MessageId};
use crate::journal::InstanceId;

/// An engine, as one client of it. Every call waits for a bounded time by the monotonic clock.
pub trait LogStore {
    /// Appends `entry` where the log ends exactly at `expected`. An entry whose message id the log remembers is not appended
    /// again. A positive answer means that a majority of machines has it on disk.
    fn store(&mut self, expected: LogPosition, id: &MessageId, entry: &[u8]) -> StoreReply;

    /// The entry at a position. What it says about the end of the log may be old.
    fn load(&mut self, position: LogPosition) -> LoadReply;

    /// Removes every entry below a position; later positions keep their numbers.
    fn discard(&mut self, below: LogPosition) -> Result<(), String>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreReply {
    Stored {
        position: LogPosition,
    },
    /// It was stored before, under the same message id.
    Duplicate {
        position: LogPosition,
    },
    /// Not stored: the log ends elsewhere, there if it says so.
    OtherEnd {
        end: Option<LogPosition>,
    },
    /// An entry with the same message id is being stored.
    InProgress,
    NoAnswer,
    /// This attempt was not stored, for another reason than the end of the log.
    Rejected {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadReply {
    Entry(Vec<u8>),
    /// Nothing here, and nothing behind it.
    End,
    /// Nothing here, but an entry behind it.
    Missing {
        next: LogPosition,
    },
    /// The log begins later.
    Trimmed {
        first: LogPosition,
    },
    /// No answer, or none that helps.
    Unavailable {
        reason: String,
    },
}

/// Whose journal a log holds, by its first entry; none where it is empty. A process that has no journal yet takes that identity.
pub fn instance_in(store: &mut impl LogStore) -> Result<Option<InstanceId>, LogError> {
    let first = LogPosition::START.next();
    match store.load(first) {
        LoadReply::Entry(bytes) => LogEntry::decode(&bytes)
            .map(|entry| Some(entry.instance))
            .map_err(|reason| LogError::Bad { position: first, fault: EntryFault::Damaged { reason } }),
        LoadReply::End => Ok(None),
        LoadReply::Missing { next } => Err(LogError::Gap { position: first, next }),
        // Who has no journal could not read the beginning either.
        LoadReply::Trimmed { first: begin } => Err(LogError::Trimmed { next: first, first: begin }),
        LoadReply::Unavailable { reason } => Err(LogError::Unavailable { reason }),
    }
}
