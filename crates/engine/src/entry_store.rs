//! Entries that are booked, by key: one that comes again is recognised, and one that comes again with other values too.

use std::collections::BTreeMap;

use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::codec::{decode_keyed, encode_keyed};

/// Fingerprints of id and content. Venues book a few a day on an account, so all are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryStore(BTreeMap<u128, u128>);

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
        encode_keyed(&pairs, e, ctx)
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
