//! Ledger: durable key-value records of an edge (FIX sessions), written with the journal's group commits.

use crate::inbox::InboxError;
use crate::inbox::reply::ReplyReceiver;

const SESSION_STREAM: &str = "fix:";

/// The stream that tells of accepted losses of the journal, by sequence: numbers that an edge gave before may be forgotten.
pub const LOSSES: &str = "losses";

/// The stream in which a session keeps which loss it has answered, by leaving numbers out.
pub fn losses_of(session: &str) -> String {
    format!("losses-of:{session}")
}

/// A record of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRecord {
    /// Unique in its stream.
    pub key: u64,
    /// The content; the ledger does not read it.
    pub bytes: Vec<u8>,
}

/// The stream with the MsgSeqNum of a session's newest command, without bytes: each number is part of its command's
/// record, so no edge writes to it.
pub fn seq_num_stream(session: &str) -> String {
    format!("number-of:{session}")
}

/// The stream of a session's sent messages.
pub fn session_stream(session: &str) -> String {
    format!("{SESSION_STREAM}{session}")
}

/// The session of a stream: its records and its commands keep their order.
pub fn stream_session(stream: &str) -> Option<&str> {
    stream.strip_prefix(SESSION_STREAM)
}

/// The stream with the one record that an adapter keeps under this name.
pub fn adapter_stream(adapter: &str, name: &str) -> String {
    format!("venue:{adapter}:{name}")
}

/// Durable records by stream and key.
pub trait Ledger: Send + Sync {
    /// The reply comes when the record is durable.
    fn append(&self, stream: &str, key: u64, bytes: &[u8]) -> Result<ReplyReceiver, InboxError>;

    /// The records of a stream with keys in the range, ascending, at most `limit`.
    fn read(&self, stream: &str, keys: std::ops::RangeInclusive<u64>, limit: usize) -> Vec<LedgerRecord>;

    /// The record with the highest key.
    fn last(&self, stream: &str) -> Option<LedgerRecord>;

    /// Records below `key` may be dropped.
    fn truncate_before(&self, stream: &str, key: u64) -> Result<ReplyReceiver, InboxError>;
}
