//! Inputs of the runtime itself: about orders that the engine no longer keeps and whose ids are in an index on disk, and about
//! a loss of the journal's end that was accepted.

use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::ids::{AccountId, OrderId};

/// An input about retired orders. It is journalled, so a replay needs no index.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum RetiredOrdersInput {
    /// From here on an index takes the ids of retired orders. Ids that were retired before stay in the state.
    #[n(0)]
    Begin,
    /// The index has every key that was there after the input of this sequence: the engine forgets them.
    #[n(1)]
    Stored(#[n(0)] u64),
    /// Keys that the index has and that one of the next inputs needs.
    #[n(2)]
    Recalled(#[n(0)] RecalledKeys),
}

/// Keys of retired orders that come back from the index.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct RecalledKeys {
    /// Fingerprints of order ids.
    #[n(0)]
    pub ids: KeyList,
    /// Fingerprints of ClOrdIDs of sessions.
    #[n(1)]
    pub names: KeyList,
    /// Keys of executions.
    #[n(2)]
    pub executions: KeyList,
    /// Accounts of orders.
    #[n(3)]
    pub accounts: Vec<(OrderId, AccountId)>,
}

impl RecalledKeys {
    /// Whether the index had nothing of it.
    pub fn is_empty(&self) -> bool {
        let Self { ids, names, executions, accounts } = self;
        [ids, names, executions].iter().all(|keys| keys.0.is_empty()) && accounts.is_empty()
    }
}

/// 128-bit keys, which CBOR's integers do not hold: 16 bytes each, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyList(pub Vec<u128>);

/// Bytes of one key.
const KEY_BYTES: usize = 16;

impl<C> Encode<C> for KeyList {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|key| key.to_be_bytes()).collect();
        e.bytes(&bytes)?.ok()
    }
}

impl<'b, C> Decode<'b, C> for KeyList {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        let (keys, rest) = d.bytes()?.as_chunks::<KEY_BYTES>();
        if !rest.is_empty() {
            return Err(minicbor::decode::Error::message("a key has 16 bytes"));
        }
        Ok(Self(keys.iter().map(|key| u128::from_be_bytes(*key)).collect()))
    }
}

/// What is known of records that are gone. Numbers up to these may be out in the world, and some beyond them: none of them is
/// given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct AcceptedLoss {
    /// The last sequence that was left.
    #[n(0)]
    pub end: u64,
    /// The highest order number that anything knew.
    #[n(1)]
    pub order: u64,
    /// The highest number of a transaction that anything knew.
    #[n(2)]
    pub transaction: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_were_written() {
        let keys = RecalledKeys {
            ids: KeyList(vec![1, u128::MAX]),
            accounts: vec![(OrderId(7), AccountId(3))],
            ..RecalledKeys::default()
        };
        let told = RetiredOrdersInput::Recalled(keys);
        let bytes = minicbor::to_vec(&told).unwrap();
        assert_eq!(minicbor::decode::<RetiredOrdersInput>(&bytes).unwrap(), told);
    }

    #[test]
    fn half_a_key_is_refused() {
        let half = minicbor::to_vec(minicbor::bytes::ByteVec::from(vec![0; 24])).unwrap();
        assert!(minicbor::decode::<KeyList>(&half).is_err());
    }
}
