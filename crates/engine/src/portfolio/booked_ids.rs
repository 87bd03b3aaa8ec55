//! Ids of what is booked, in little memory, so that nothing is booked twice: uuids of transactions, and entries of venues.

use std::collections::BTreeSet;

use domain::{TransactionId, Uuid};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::codec::{decode_keyed, encode_keyed};
use crate::shared::shared_map::SharedMap;
use crate::shared::shared_set::SharedSet;

/// A uuid that we generated contains its transaction's id, which is never given twice, so it need not be kept: it is
/// enough that no client may use the space of its issuer.
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub(super) struct UsedUuids {
    /// The instances that generated uuids, as in the upper half of their uuids.
    #[n(0)]
    issuers: BTreeSet<u64>,
    /// Chosen by clients.
    #[n(1)]
    foreign: SharedSet<Uuid>,
}

impl UsedUuids {
    pub(super) fn contains(&self, uuid: Uuid, id: TransactionId) -> bool {
        let (issuer, is_minted) = parts(uuid, id);
        !is_minted && (self.issuers.contains(&issuer) || self.foreign.contains(&uuid))
    }

    pub(super) fn insert(&mut self, uuid: Uuid, id: TransactionId) {
        let (issuer, is_minted) = parts(uuid, id);
        if is_minted {
            self.issuers.insert(issuer);
        } else {
            self.foreign.insert(uuid);
        }
    }
}

/// The upper half, and whether the whole is what the issuer of that half generates for a transaction.
fn parts(uuid: Uuid, id: TransactionId) -> (u64, bool) {
    let issuer = u64::try_from(uuid.0 >> 64).expect("64 bits are left");
    (issuer, Uuid::mint(issuer, id.0) == uuid)
}

/// Fingerprints of id and content. Venues book a few a day on an account, so all are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryStore(SharedMap<u128, u128>);

impl EntryStore {
    pub(crate) fn get(&self, key: u128) -> Option<u128> {
        self.0.get(&key).copied()
    }

    pub(crate) fn insert(&mut self, key: u128, content: u128) {
        self.0.insert(key, content);
    }
}

impl<C> Encode<C> for EntryStore {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        let pairs: Vec<_> = self.0.iter().map(|(key, content)| (*key, halves(*content))).collect();
        encode_keyed(pairs.iter(), e, ctx)
    }

    fn is_nil(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'b, C> Decode<'b, C> for EntryStore {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let whole = |(high, low): (u64, u64)| u128::from(high) << 64 | u128::from(low);
        let pairs: Vec<(u128, (u64, u64))> = decode_keyed(d, ctx)?;
        Ok(Self(pairs.into_iter().map(|(key, content)| (key, whole(content))).collect()))
    }

    fn nil() -> Option<Self> {
        Some(Self::default())
    }
}

/// CBOR's integers have 64 bits.
fn halves(number: u128) -> (u64, u64) {
    let [high, low] = [number >> 64, number & u128::from(u64::MAX)];
    let half = |part: u128| u64::try_from(part).expect("64 bits are left");
    (half(high), half(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuid(text: &str) -> Uuid {
        text.parse().unwrap()
    }

    #[test]
    fn a_clients_uuid_is_taken_once() {
        let mut taken = UsedUuids::default();
        let theirs = uuid("b2c3b0d8-6c55-4e0a-9c55-1b6f0c6f9e01");
        assert!(!taken.contains(theirs, TransactionId(1)));
        taken.insert(theirs, TransactionId(1));
        assert!(taken.contains(theirs, TransactionId(2)));
    }

    #[test]
    fn a_generated_uuid_is_used_by_its_own_transaction_only() {
        let mut taken = UsedUuids::default();
        taken.insert(Uuid::mint(7, 1), TransactionId(1));
        assert!(taken.contains(Uuid::mint(7, 1), TransactionId(2)), "a client repeats a minted one");
        assert!(taken.contains(Uuid::mint(7, 9), TransactionId(2)), "a client takes one that we shall mint");
        assert!(!taken.contains(Uuid::mint(7, 2), TransactionId(2)), "the next one of ours");
        assert!(!taken.contains(Uuid::mint(8, 1), TransactionId(2)), "of a stranger");
    }

    #[test]
    fn a_thousand_generated_uuids_take_no_more_memory_than_one() {
        let mut taken = UsedUuids::default();
        (1..=1_000).for_each(|id| taken.insert(Uuid::mint(7, id), TransactionId(id)));
        let mut once = UsedUuids::default();
        once.insert(Uuid::mint(7, 1), TransactionId(1));
        assert_eq!(taken, once);
    }
}
