//! Ledger store over the journal: records of edges by stream and key.
//!
//! ```text
//! append ▸ inbox ▸ journal ▸ durable ▸ absorb ▸ read
//! ```
//!
//! It shows durable records only. A start fills it from a snapshot and from the records after it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock};

use bus::ledger::{LedgerRecord, seq_num_stream, stream_session};
use bus::reply::{Reply, reply_channel};
use bus::{Inbox, InboxError, Ledger, ReplyReceiver};
use domain::{Decimal, MessageOrigin, Refusal};
use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};

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
}

/// As in the journal.
#[derive(Debug, Encode, Decode)]
enum LedgerOperation {
    #[n(0)]
    Append {
        #[n(0)]
        stream: String,
        #[n(1)]
        key: u64,
        #[n(2)]
        bytes: ByteVec,
    },
    #[n(1)]
    TruncateBefore {
        #[n(0)]
        stream: String,
        #[n(1)]
        key: u64,
    },
}

/// A record as the journal holds it, for whoever writes one without a server.
pub fn record(stream: &str, key: u64, bytes: &[u8]) -> Vec<u8> {
    let record = LedgerOperation::Append { stream: stream.to_owned(), key, bytes: bytes.to_vec().into() };
    minicbor::to_vec(record).expect("a vector takes every byte")
}

impl JournalLedger {
    pub fn new(inbox: Inbox) -> Self {
        Self { inbox, streams: RwLock::default() }
    }

    /// Applies a record that is durable, or replayed: in the journal's order, each once. Fails where it cannot be
    /// decoded.
    pub fn apply(&self, record: &[u8]) -> Result<(), String> {
        self.streams.write().unwrap_or_else(PoisonError::into_inner).apply(record)
    }

    /// Everything that is durable. The records are shared, not copied, so that the caller waits neither for copying nor
    /// for encoding.
    pub fn snapshot(&self) -> LedgerStreams {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn export(&self) -> Vec<u8> {
        self.snapshot().encode()
    }

    /// Restores an exported ledger; it is unchanged where the bytes cannot be decoded.
    pub fn import(&self, exported: &[u8]) -> Result<(), String> {
        let streams: BTreeMap<String, BTreeMap<u64, ByteVec>> =
            minicbor::decode(exported).map_err(|error| format!("not an export of the Ledger: {error}"))?;
        let shared = |entries: BTreeMap<u64, ByteVec>| {
            LedgerStream::from_entries(entries.into_iter().map(|(key, bytes)| (key, Arc::new(bytes))).collect())
        };
        let streams = streams.into_iter().map(|(name, entries)| (name, shared(entries))).collect();
        *self.streams.write().unwrap_or_else(PoisonError::into_inner) = LedgerStreams(streams);
        Ok(())
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
pub struct LedgerStreams(BTreeMap<String, LedgerStream>);

impl LedgerStreams {
    /// In the journal's order, each record once. Fails where it cannot be decoded.
    pub fn apply(&mut self, record: &[u8]) -> Result<(), String> {
        let record = minicbor::decode(record).map_err(|error| format!("not a record of the Ledger: {error}"))?;
        match record {
            LedgerOperation::Append { stream, key, bytes } => {
                let held = self.0.entry(stream.clone()).or_default();
                held.insert(key, bytes);
                held.enforce_limit(&stream);
            }
            LedgerOperation::TruncateBefore { stream, key } => {
                self.0.get_mut(&stream).into_iter().for_each(|held| held.remove_below(key));
                self.0.retain(|_, held| !held.entries.is_empty());
            }
        }
        Ok(())
    }

    /// Only the highest MsgSeqNum of a session matters, and numbers of a session never fall.
    pub fn record_seq_num(&mut self, origin: &MessageOrigin) {
        let held = self.0.entry(seq_num_stream(&origin.session)).or_default();
        held.insert(origin.seq_num, ByteVec::from(Vec::new()));
        let highest = held.entries.last_key_value().map_or(origin.seq_num, |(number, _)| *number);
        held.remove_below(highest);
    }

    /// As [`JournalLedger::import`] reads it.
    pub fn encode(&self) -> Vec<u8> {
        let streams: BTreeMap<_, _> =
            self.0.iter().map(|(name, stream)| (name.as_str(), by_key(&stream.entries))).collect();
        minicbor::to_vec(streams).expect("a vector takes every byte")
    }
}

fn by_key(entries: &BTreeMap<u64, Arc<ByteVec>>) -> BTreeMap<u64, &ByteVec> {
    entries.iter().map(|(key, bytes)| (*key, &**bytes)).collect()
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
        let Some(held) = streams.0.get(stream).filter(|_| !keys.is_empty()) else { return Vec::new() };
        let found = held.entries.range(keys).take(limit);
        found.map(|(key, bytes)| LedgerRecord { key: *key, bytes: bytes.to_vec() }).collect()
    }

    fn last(&self, stream: &str) -> Option<LedgerRecord> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let (key, bytes) = streams.0.get(stream)?.entries.last_key_value()?;
        Some(LedgerRecord { key: *key, bytes: bytes.to_vec() })
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
    entries: BTreeMap<u64, Arc<ByteVec>>,
    bytes: usize,
    /// Whether the drop of the oldest records was logged.
    is_limit_logged: bool,
}

impl LedgerStream {
    fn from_entries(entries: BTreeMap<u64, Arc<ByteVec>>) -> Self {
        let bytes = entries.values().map(|bytes| cost(bytes)).sum();
        Self { entries, bytes, is_limit_logged: false }
    }

    /// A key that is there gets the new bytes.
    fn insert(&mut self, key: u64, bytes: ByteVec) {
        self.bytes += cost(&bytes);
        self.bytes -= self.entries.insert(key, Arc::new(bytes)).as_ref().map_or(0, |bytes| cost(bytes));
    }

    fn remove_below(&mut self, key: u64) {
        let kept = self.entries.split_off(&key);
        let forgotten = std::mem::replace(&mut self.entries, kept);
        self.bytes -= forgotten.values().map(|bytes| cost(bytes)).sum::<usize>();
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
