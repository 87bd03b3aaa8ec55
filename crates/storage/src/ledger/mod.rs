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
use std::sync::{PoisonError, RwLock};

use bus::ledger::{Entry, numbers_of, session_of};
use bus::ticket::{Reply, ticket};
use bus::{Closed, Inbox, Ledger, Ticket};
use domain::{Decimal, Origin, Refusal};
use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};

/// A longer record is refused.
pub const LEDGER_RECORD_BYTES_MAX: usize = 1 << 20;
/// Size limit of one stream, keys included. Beyond it, the records with the lowest keys are dropped as if they had been
/// marked: they stay in the journal, but cannot be read from here.
pub const LEDGER_STREAM_BYTES_MAX: usize = 16 << 20;

/// Overhead of a record besides its bytes.
const ENTRY_BYTES: usize = 64;

pub struct LedgerBook {
    inbox: Inbox,
    streams: RwLock<BTreeMap<String, Stream>>,
}

/// As in the journal.
#[derive(Debug, Encode, Decode)]
enum Record {
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
    Mark {
        #[n(0)]
        stream: String,
        #[n(1)]
        key: u64,
    },
}

/// A record as the journal holds it, for whoever writes one without a server.
pub fn record(stream: &str, key: u64, bytes: &[u8]) -> Vec<u8> {
    let record = Record::Append { stream: stream.to_owned(), key, bytes: bytes.to_vec().into() };
    minicbor::to_vec(record).expect("a vector takes every byte")
}

impl LedgerBook {
    pub fn new(inbox: Inbox) -> Self {
        Self { inbox, streams: RwLock::default() }
    }

    /// Applies a record that is durable, or replayed: in the journal's order, each once. Fails where it cannot be
    /// decoded.
    pub fn absorb(&self, record: &[u8]) -> Result<(), String> {
        let record = minicbor::decode(record).map_err(|error| format!("not a record of the Ledger: {error}"))?;
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        match record {
            Record::Append { stream, key, bytes } => {
                let held = streams.entry(stream.clone()).or_default();
                held.put(key, bytes);
                held.keep_to_limit(&stream);
            }
            Record::Mark { stream, key } => {
                streams.get_mut(&stream).into_iter().for_each(|held| held.forget_below(key));
                streams.retain(|_, held| !held.entries.is_empty());
            }
        }
        Ok(())
    }

    /// Everything, for a snapshot: records before one are not replayed.
    pub fn export(&self) -> Vec<u8> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let entries: BTreeMap<_, _> = streams.iter().map(|(name, stream)| (name.as_str(), &stream.entries)).collect();
        minicbor::to_vec(entries).expect("a vector takes every byte")
    }

    /// Restores an exported ledger; it is unchanged where the bytes cannot be decoded.
    pub fn import(&self, exported: &[u8]) -> Result<(), String> {
        let streams: BTreeMap<String, BTreeMap<u64, ByteVec>> =
            minicbor::decode(exported).map_err(|error| format!("not an export of the Ledger: {error}"))?;
        let streams = streams.into_iter().map(|(name, entries)| (name, Stream::of(entries))).collect();
        *self.streams.write().unwrap_or_else(PoisonError::into_inner) = streams;
        Ok(())
    }

    /// Records the MsgSeqNum of a command, once the command is durable, or replayed. Only the highest of a
    /// session matters, and numbers of a session never fall.
    pub fn note(&self, origin: &Origin) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        let held = streams.entry(numbers_of(&origin.session)).or_default();
        held.put(origin.number, ByteVec::from(Vec::new()));
        let highest = held.entries.last_key_value().map_or(origin.number, |(number, _)| *number);
        held.forget_below(highest);
    }

    fn remember(&self, stream: &str, record: &Record) -> Result<Ticket, Closed> {
        let record = minicbor::to_vec(record).expect("a vector takes every byte");
        self.inbox.remember(record, session_of(stream))
    }
}

impl Ledger for LedgerBook {
    fn append(&self, stream: &str, key: u64, bytes: &[u8]) -> Result<Ticket, Closed> {
        if bytes.len() > LEDGER_RECORD_BYTES_MAX {
            return Ok(refused(bytes.len()));
        }
        self.remember(stream, &Record::Append { stream: stream.to_owned(), key, bytes: bytes.to_vec().into() })
    }

    fn read(&self, stream: &str, keys: RangeInclusive<u64>, limit: usize) -> Vec<Entry> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        // An empty range is no range for the map.
        let Some(held) = streams.get(stream).filter(|_| !keys.is_empty()) else { return Vec::new() };
        let found = held.entries.range(keys).take(limit);
        found.map(|(key, bytes)| Entry { key: *key, bytes: bytes.to_vec() }).collect()
    }

    fn last(&self, stream: &str) -> Option<Entry> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let (key, bytes) = streams.get(stream)?.entries.last_key_value()?;
        Some(Entry { key: *key, bytes: bytes.to_vec() })
    }

    fn mark(&self, stream: &str, key: u64) -> Result<Ticket, Closed> {
        self.remember(stream, &Record::Mark { stream: stream.to_owned(), key })
    }
}

/// A reply that is there already: the record never reaches the journal.
fn refused(bytes: usize) -> Ticket {
    let (promise, ticket) = ticket();
    let refusal = Refusal::TooLarge {
        field: "bytes",
        value: Decimal::from(bytes),
        limit: Decimal::from(LEDGER_RECORD_BYTES_MAX),
    };
    promise.keep(Reply { sequence: 0, outcome: Err(refusal) });
    ticket
}

#[derive(Default)]
struct Stream {
    entries: BTreeMap<u64, ByteVec>,
    bytes: usize,
    /// Whether the drop of the oldest records was logged.
    is_told: bool,
}

impl Stream {
    fn of(entries: BTreeMap<u64, ByteVec>) -> Self {
        let bytes = entries.values().map(cost).sum();
        Self { entries, bytes, is_told: false }
    }

    /// A key that is there gets the new bytes.
    fn put(&mut self, key: u64, bytes: ByteVec) {
        self.bytes += cost(&bytes);
        self.bytes -= self.entries.insert(key, bytes).as_ref().map_or(0, cost);
    }

    fn forget_below(&mut self, key: u64) {
        let kept = self.entries.split_off(&key);
        let forgotten = std::mem::replace(&mut self.entries, kept);
        self.bytes -= forgotten.values().map(cost).sum::<usize>();
    }

    fn keep_to_limit(&mut self, name: &str) {
        while self.bytes > LEDGER_STREAM_BYTES_MAX {
            let Some((key, bytes)) = self.entries.pop_first() else { return };
            self.bytes -= cost(&bytes);
            if !std::mem::replace(&mut self.is_told, true) {
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
