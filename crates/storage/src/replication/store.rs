//! Log store: the three calls that an engine behind the port must offer.

use super::types::{LogPosition, MessageId};

/// An engine, as one client of it. Every call waits for a bounded time by the monotonic clock.
pub trait LogStore {
    /// Appends `entry` where the log ends exactly at `expected`. An entry whose message id the log remembers is not appended
    /// again. A positive answer means that a majority of machines has it on disk.
    fn store(&mut self, expected: LogPosition, id: &MessageId, entry: &[u8]) -> StoreReply;

    /// The entry at a position. What it says about the end of the log may be old.
    fn load(&mut self, position: LogPosition) -> LoadReply;

    /// The entry at a position as another copy of the log has it; none where it is not known. Asked repeatedly where the first answer
    /// cannot be used, so each call should ask another machine where it can.
    fn load_copy(&mut self, _position: LogPosition) -> Option<Vec<u8>> {
        None
    }

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
    /// An entry is there, but the machine that was asked cannot read it.
    Unreadable {
        reason: String,
    },
    /// No answer, or none that helps.
    Unavailable {
        reason: String,
    },
}
