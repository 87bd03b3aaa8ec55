//! Message store: sequence numbers and sent messages of a session, kept between connections.

use crate::codec::UtcTimestamp;
use std::fmt;

/// MsgSeqNum (34): counted from 1 in each direction.
pub type SeqNum = u64;

/// The highest sequence number: some trillion messages. A message with a higher one is garbled, a Sequence Reset to it
/// is rejected, so that a store may rely on short numbers.
pub const SEQ_NUM_MAX: SeqNum = (1 << 40) - 1;

/// The layer of a message. Messages of the session layer are never sent again, so a store need not keep their bytes; a Reject is, so
/// it counts as one of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    Session,
    Application,
}

/// A failed store ends the connection: nothing is sent that is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError(pub String);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the session store failed: {}", self.0)
    }
}

impl std::error::Error for StoreError {}

/// Called with each message that a store reads.
pub type MessageVisitor<'a> = dyn FnMut(SeqNum, &[u8]) + 'a;

pub trait MessageStore {
    /// When the sequence numbers were last reset.
    fn created(&self) -> UtcTimestamp;

    fn next_outgoing(&self) -> SeqNum;

    fn next_incoming(&self) -> SeqNum;

    /// Stores a message before it is sent; the next outgoing number is one more.
    fn append(&mut self, number: SeqNum, traffic: Traffic, message: &[u8]) -> Result<(), StoreError>;

    /// All incoming numbers below this one are handled. An application that journals its orders together with their
    /// number may leave [`Traffic::Application`] to that journal.
    fn set_next_incoming(&mut self, next: SeqNum, traffic: Traffic) -> Result<(), StoreError>;

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError>;

    /// Visits the application messages that were sent with these numbers, in order. A number may be missing.
    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut MessageVisitor<'_>) -> Result<(), StoreError>;

    /// Both sequence numbers are reset to 1, and no sent message can be requested any more.
    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError>;

    /// Reads the sequence numbers again, where another process may have changed them.
    fn refresh(&mut self) -> Result<(), StoreError>;
}

/// When its messages exceed this, the memory store drops the older half; a resend then fills the gap.
pub const MEMORY_STORE_BYTES_MAX: usize = 64 << 20;

/// Stores in memory, as long as the process runs.
#[derive(Debug)]
pub struct MemoryStore {
    created: UtcTimestamp,
    next_incoming: SeqNum,
    /// The number that the first kept message has.
    first: SeqNum,
    /// Where each message ends in `bytes`; one of the session layer takes no bytes.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl MemoryStore {
    pub fn new(created: UtcTimestamp) -> Self {
        Self { created, next_incoming: 1, first: 1, ends: Vec::new(), bytes: Vec::new() }
    }

    fn message(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    fn evict_older_half(&mut self) {
        let half = self.ends.len().div_ceil(2);
        let cut = self.ends[half - 1];
        self.ends.drain(..half);
        self.ends.iter_mut().for_each(|end| *end -= cut);
        self.bytes.drain(..cut);
        self.first += half as SeqNum;
    }
}

impl MessageStore for MemoryStore {
    fn created(&self) -> UtcTimestamp {
        self.created
    }

    fn next_outgoing(&self) -> SeqNum {
        self.first + self.ends.len() as SeqNum
    }

    fn next_incoming(&self) -> SeqNum {
        self.next_incoming
    }

    fn append(&mut self, number: SeqNum, traffic: Traffic, message: &[u8]) -> Result<(), StoreError> {
        if number != self.next_outgoing() {
            return Err(StoreError(format!("number {number} comes instead of {}", self.next_outgoing())));
        }
        if traffic == Traffic::Application {
            self.bytes.extend_from_slice(message);
        }
        self.ends.push(self.bytes.len());
        if self.bytes.len() > MEMORY_STORE_BYTES_MAX {
            self.evict_older_half();
        }
        Ok(())
    }

    fn set_next_incoming(&mut self, next: SeqNum, _traffic: Traffic) -> Result<(), StoreError> {
        self.next_incoming = next;
        Ok(())
    }

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        self.first = next;
        self.ends.clear();
        self.bytes.clear();
        Ok(())
    }

    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        for number in from.max(self.first)..=to.min(self.next_outgoing().saturating_sub(1)) {
            let at = usize::try_from(number - self.first).map_err(|error| StoreError(error.to_string()))?;
            let message = self.message(at);
            if !message.is_empty() {
                visit(number, message);
            }
        }
        Ok(())
    }

    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        self.created = now;
        self.next_incoming = 1;
        self.set_next_outgoing(1)
    }

    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}
