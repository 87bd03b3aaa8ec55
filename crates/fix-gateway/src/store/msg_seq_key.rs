//! MsgSeqNum key: sequence number and epoch in one Ledger key. An epoch starts with every sequence reset; newer epochs
//! sort after older ones.

use fix::{SEQ_NUM_MAX, SeqNum};

const NUMBER_BITS: u32 = 40;
const _: () = assert!(SEQ_NUM_MAX >> NUMBER_BITS == 0, "every number of a session fits");

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
