//! A page of a session's book: some messages that were sent, and how far the session was with the last of them.

use minicbor::bytes::{ByteSlice, ByteVec};
use minicbor::{Decode, Encode};

/// How far a session has told its client what happened: up to so many of an input's events, counted over all orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub(crate) struct Cursor {
    #[n(0)]
    pub(crate) sequence: u64,
    #[n(1)]
    pub(crate) told: u32,
}

impl Cursor {
    /// Behind everything that this input caused.
    pub(crate) fn behind(sequence: u64) -> Self {
        Self { sequence, told: u32::MAX }
    }
}

/// The client's last word: in which life of the session it was told what it had missed, and up to where it has proved to have
/// read everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct LastLogon {
    #[n(0)]
    pub(crate) life: u32,
    #[n(1)]
    pub(crate) sequence: u64,
}

/// Generic over who holds the messages: written from where they lie, read into memory of its own.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Page<M = ByteVec> {
    /// When the numbers began, in nanoseconds since 1970.
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
    /// From the page's own number on; those of the session layer are never sent again, and empty.
    #[n(5)]
    pub(crate) messages: Vec<M>,
}

impl Page<&ByteSlice> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        minicbor::to_vec(self).expect("a vector takes every byte")
    }
}

impl Page {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        minicbor::decode(bytes).map_err(|error| format!("not a page of a session: {error}"))
    }
}
