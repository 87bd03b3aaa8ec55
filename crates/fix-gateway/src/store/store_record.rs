//! Store record: a group of sent messages and the session's position after the last of them.

use fix::{SEQ_NUM_MAX, SeqNum};
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

const NUMBER_BITS: u32 = 40;
const _: () = assert!(SEQ_NUM_MAX >> NUMBER_BITS == 0, "every number of a session fits");

/// Sequence number and epoch in one Ledger key. An epoch starts with every sequence reset; newer epochs sort after older ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MsgSeqKey {
    pub(crate) epoch: u32,
    pub(crate) number: SeqNum,
}

impl MsgSeqKey {
    /// The session neither accepts nor uses a number that does not fit.
    pub(crate) fn key(self) -> u64 {
        debug_assert!(self.number >> NUMBER_BITS == 0);
        u64::from(self.epoch) << NUMBER_BITS | self.number
    }

    pub(crate) fn from_key(key: u64) -> Self {
        let epoch = u32::try_from(key >> NUMBER_BITS).unwrap_or(u32::MAX);
        Self { epoch, number: key & ((1 << NUMBER_BITS) - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_life_comes_behind_every_number_of_an_older_one() {
        let places = [(0, 1), (0, (1 << NUMBER_BITS) - 1), (1, 0), (1, 1), (9, 7)];
        let keys = places.map(|(life, number)| MsgSeqKey { epoch: life, number }.key());
        assert!(keys.is_sorted());
        assert_eq!(keys.map(|key| (MsgSeqKey::from_key(key).epoch, MsgSeqKey::from_key(key).number)), places);
    }
}
