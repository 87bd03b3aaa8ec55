//! Store record: a group of sent messages and the session's position after the last of them.

use minicbor::bytes::{ByteSlice, ByteVec};
use minicbor::{Decode, Encode};

/// Report cursor: how far a session has reported events to its client, as a sequence and the number of its events, over
/// all orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub(crate) struct Cursor {
    #[n(0)]
    pub(crate) sequence: u64,
    #[n(1)]
    pub(crate) reported: u32,
}

impl Cursor {
    /// After all events of this input.
    pub(crate) fn after(sequence: u64) -> Self {
        Self { sequence, reported: u32::MAX }
    }
}

/// The client's last logon: the epoch in which missed reports were sent, and the sequence up to which the client has
/// confirmed everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct LastLogon {
    #[n(0)]
    pub(crate) epoch: u32,
    #[n(1)]
    pub(crate) sequence: u64,
}

/// Generic over the owner of the messages: encoded from where they lie, decoded into own memory.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct StoreRecord<M = ByteVec> {
    /// When the sequence numbers were reset, in nanoseconds since 1970.
    #[n(0)]
    pub(crate) created: i64,
    #[n(1)]
    pub(crate) next_incoming: u64,
    #[n(2)]
    pub(crate) next_outgoing: u64,
    #[n(3)]
    pub(crate) cursor: Option<Cursor>,
    #[n(4)]
    pub(crate) logon: Option<LastLogon>,
    /// From the record's own number on; those of the session layer are never sent again, and empty.
    #[n(5)]
    pub(crate) messages: Vec<M>,
}

impl StoreRecord<&ByteSlice> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        minicbor::to_vec(self).expect("a vector takes every byte")
    }
}

impl StoreRecord {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        minicbor::decode(bytes).map_err(|error| format!("not a page of a session: {error}"))
    }
}
