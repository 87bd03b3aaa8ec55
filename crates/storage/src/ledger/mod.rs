//! Ledger store over the journal: records of edges by stream and key.
//!
//! ```text
//! append ▸ inbox ▸ journal ▸ durable ▸ absorb ▸ read
//! ```
//!
//! It shows durable records only. A start fills it from a snapshot and from the records after it. It also has the users, tokens and
//! settings that follow from the records of administration.

#[cfg(test)]
mod tests;

mod admin;
mod operation;
mod record_map;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError, RwLock};

use bus::ledger::{LedgerRecord, seq_num_stream, stream_session};
use bus::reply::{Reply, reply_channel};
use bus::{Inbox, InboxError, Ledger, ReplyReceiver};
use domain::admin::{AdminRecord, AdminState};
use domain::{Decimal, MessageOrigin, PlantedBug, Refusal};
use minicbor::bytes::ByteVec;

use admin::AdminFollower;
pub use admin::{SequencedAdminRecord, admin_record, read_admin_records};
use operation::LedgerOperation;
use record_map::RecordMap;

/// A longer record is refused.
pub const LEDGER_RECORD_BYTES_MAX: usize = 1 << 20;
/// Size limit of one stream, keys included. Beyond it, the records with the lowest keys are dropped as if they had been
/// marked: they stay in the journal, but cannot be read from here.
pub const LEDGER_STREAM_BYTES_MAX: usize = 16 << 20;

/// Overhead of a record besides its bytes.
const ENTRY_BYTES: usize = 64;

pub struct JournalLedger {
    inbox: Inbox,
    streams: RwLock<LedgerStreams>,
    admin_follower: AdminFollower,
}

/// A record as the journal holds it, for whoever writes one without a server.
pub fn record(stream: &str, key: u64, bytes: &[u8]) -> Vec<u8> {
    let record = LedgerOperation::Append { stream: stream.to_owned(), key, bytes: bytes.to_vec().into() };
    minicbor::to_vec(record).expect("a vector takes every byte")
}

impl JournalLedger {
    pub fn new(inbox: Inbox) -> Self {
        Self { inbox, streams: RwLock::default(), admin_follower: AdminFollower::default() }
    }

    /// Applies a record that is durable, or replayed: in the journal's order, each once. Fails where it cannot be
    /// decoded.
    pub fn apply(&self, sequence: u64, record: &[u8]) -> Result<(), String> {
        let applied = self.streams.write().unwrap_or_else(PoisonError::into_inner).apply(sequence, record)?;
        applied.into_iter().for_each(|record| self.admin_follower.send(sequence, record));
        Ok(())
    }

    /// Everything that is durable. The records are shared in parts, not copied, so that the caller waits neither for copying nor
    /// for encoding.
    pub fn snapshot(&self) -> LedgerStreams {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn export(&self) -> Vec<u8> {
        self.snapshot().encode()
    }

    /// Restores an exported ledger; it is unchanged where the bytes cannot be decoded.
    pub fn import(&self, exported: &[u8]) -> Result<(), String> {
        let (streams, admin) = admin::decode_export(exported)?;
        let streams = streams.into_iter().map(|(name, entries)| (name, LedgerStream::from_entries(entries))).collect();
        *self.streams.write().unwrap_or_else(PoisonError::into_inner) = LedgerStreams { streams, admin };
        Ok(())
    }

    /// Users, tokens and settings, as far as they are durable.
    pub fn admin(&self) -> Arc<AdminState> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).admin.clone()
    }

    /// Records of administration that become durable from now on, for one reader.
    pub fn follow_admin(&self) -> Receiver<SequencedAdminRecord> {
        self.admin_follower.begin()
    }

    /// The reply comes when the record is durable.
    pub fn append_admin(&self, record: AdminRecord) -> Result<ReplyReceiver, InboxError> {
        self.inbox.append_ledger_record(admin_record(record), None)
    }

    /// Records the MsgSeqNum of a command, once the command is durable, or replayed.
    pub fn record_seq_num(&self, origin: &MessageOrigin) {
        self.streams.write().unwrap_or_else(PoisonError::into_inner).record_seq_num(origin);
    }

    fn append_operation(&self, stream: &str, record: &LedgerOperation) -> Result<ReplyReceiver, InboxError> {
        let record = minicbor::to_vec(record).expect("a vector takes every byte");
        self.inbox.append_ledger_record(record, stream_session(stream))
    }
}

/// All records by stream, as they were at one record of the journal. One that goes into a snapshot of the engine also needs those
/// that are journalled and not durable yet: records before a snapshot are not replayed.
#[derive(Default, Clone)]
pub struct LedgerStreams {
    streams: BTreeMap<String, LedgerStream>,
    admin: Arc<AdminState>,
}

impl LedgerStreams {
    /// In the journal's order, each record once. Fails where it cannot be decoded. Gives back a record of administration.
    pub fn apply(&mut self, sequence: u64, record: &[u8]) -> Result<Option<AdminRecord>, String> {
        let record = minicbor::decode(record).map_err(|error| format!("not a record of the Ledger: {error}"))?;
        match record {
            LedgerOperation::Append { stream, key, bytes } => {
                let held = self.streams.entry(stream.clone()).or_default();
                held.insert(key, bytes);
                held.enforce_limit(&stream);
            }
            LedgerOperation::TruncateBefore { stream, key } => {
                self.streams.get_mut(&stream).into_iter().for_each(|held| held.remove_below(key));
                self.streams.retain(|_, held| !held.entries.is_empty());
            }
            LedgerOperation::Admin(record) => {
                Arc::make_mut(&mut self.admin).apply(sequence, &record);
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Only the highest MsgSeqNum of a session matters, and numbers of a session never fall.
    pub fn record_seq_num(&mut self, origin: &MessageOrigin) {
        let held = self.streams.entry(seq_num_stream(&origin.session)).or_default();
        held.insert(origin.seq_num, ByteVec::from(Vec::new()));
        let highest = held.entries.last().map_or(origin.seq_num, |(number, _)| number);
        held.remove_below(highest);
    }

    /// As [`JournalLedger::import`] reads it.
    pub fn encode(&self) -> Vec<u8> {
        let streams: BTreeMap<_, _> =
            self.streams.iter().map(|(name, stream)| (name.as_str(), &stream.entries)).collect();
        if PlantedBug::ForgetUsers.is_planted() {
            return admin::encode_export(&streams, &AdminState::default());
        }
        admin::encode_export(&streams, &self.admin)
    }
}

impl Ledger for JournalLedger {
    fn append(&self, stream: &str, key: u64, bytes: &[u8]) -> Result<ReplyReceiver, InboxError> {
        if bytes.len() > LEDGER_RECORD_BYTES_MAX {
            return Ok(refused(bytes.len()));
        }
        self.append_operation(
            stream,
            &LedgerOperation::Append { stream: stream.to_owned(), key, bytes: bytes.to_vec().into() },
        )
    }

    fn read(&self, stream: &str, keys: RangeInclusive<u64>, limit: usize) -> Vec<LedgerRecord> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        // An empty range is no range for the map.
        let Some(held) = streams.streams.get(stream).filter(|_| !keys.is_empty()) else { return Vec::new() };
        let found = held.entries.range(keys).take(limit);
        found.map(|(key, bytes)| LedgerRecord { key, bytes: bytes.to_vec() }).collect()
    }

    fn last(&self, stream: &str) -> Option<LedgerRecord> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let (key, bytes) = streams.streams.get(stream)?.entries.last()?;
        Some(LedgerRecord { key, bytes: bytes.to_vec() })
    }

    fn truncate_before(&self, stream: &str, key: u64) -> Result<ReplyReceiver, InboxError> {
        self.append_operation(stream, &LedgerOperation::TruncateBefore { stream: stream.to_owned(), key })
    }
}

/// A reply that is there already: the record never reaches the journal.
fn refused(bytes: usize) -> ReplyReceiver {
    let (promise, ticket) = reply_channel();
    let refusal = Refusal::TooLarge {
        field: "bytes",
        value: Decimal::from(bytes),
        limit: Decimal::from(LEDGER_RECORD_BYTES_MAX),
    };
    promise.send(Reply { sequence: 0, outcome: Err(refusal) });
    ticket
}

#[derive(Default, Clone)]
struct LedgerStream {
    entries: RecordMap,
    bytes: usize,
    /// Whether the drop of the oldest records was logged.
    is_limit_logged: bool,
}

impl LedgerStream {
    fn from_entries(entries: BTreeMap<u64, ByteVec>) -> Self {
        let bytes = entries.values().map(cost).sum();
        let entries = entries.into_iter().map(|(key, bytes)| (key, Arc::new(bytes))).collect();
        Self { entries, bytes, is_limit_logged: false }
    }

    /// A key that is there gets the new bytes.
    fn insert(&mut self, key: u64, bytes: ByteVec) {
        self.bytes += cost(&bytes);
        self.bytes -= self.entries.insert(key, Arc::new(bytes)).as_ref().map_or(0, |bytes| cost(bytes));
    }

    fn remove_below(&mut self, key: u64) {
        self.bytes -= self.entries.remove_below(key).iter().map(|bytes| cost(bytes)).sum::<usize>();
    }

    fn enforce_limit(&mut self, name: &str) {
        while self.bytes > LEDGER_STREAM_BYTES_MAX {
            let Some((key, bytes)) = self.entries.pop_first() else { return };
            self.bytes -= cost(&bytes);
            if !std::mem::replace(&mut self.is_limit_logged, true) {
                tracing::warn!(
                    stream = name,
                    key,
                    limit_bytes = LEDGER_STREAM_BYTES_MAX,
                    "ledger stream is over its size limit; its oldest records are dropped"
                );
            }
        }
    }
}

fn cost(bytes: &ByteVec) -> usize {
    bytes.len() + ENTRY_BYTES
}
