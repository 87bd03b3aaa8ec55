//! The Ledger: what edges must remember over a restart. Records ride in the journal's group commits.

use crate::inbox::Closed;
use crate::ticket::Ticket;

const SESSION_STREAM: &str = "fix:";

/// A record of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: u64,
    pub bytes: Vec<u8>,
}

/// The stream that holds the number of a session's newest command, without bytes: each number rides in the record of its
/// command, so no edge writes to it.
pub fn numbers_of(session: &str) -> String {
    format!("number-of:{session}")
}

/// The stream in which a session keeps what it has sent.
pub fn stream_of(session: &str) -> String {
    format!("{SESSION_STREAM}{session}")
}

/// The session whose stream it is: its records and its commands keep their order.
pub fn session_of(stream: &str) -> Option<&str> {
    stream.strip_prefix(SESSION_STREAM)
}

pub trait Ledger: Send + Sync {
    /// The ticket is answered when the record is durable.
    fn append(&self, stream: &str, key: u64, bytes: &[u8]) -> Result<Ticket, Closed>;

    /// The records of a stream with keys in the range, ascending, at most `limit`.
    fn read(&self, stream: &str, keys: std::ops::RangeInclusive<u64>, limit: usize) -> Vec<Entry>;

    /// The record with the highest key.
    fn last(&self, stream: &str) -> Option<Entry>;

    /// Everything below `key` may be forgotten.
    fn mark(&self, stream: &str, key: u64) -> Result<Ticket, Closed>;
}
