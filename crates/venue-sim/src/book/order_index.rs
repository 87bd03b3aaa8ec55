//! Index of orders by key: a flat table with linear probing and a fixed hash.
//!
//! A bucket is 8 bytes, the slot and 32 bits of hash. The hash alone gives the place of a bucket, so growing and
//! closing gaps never read the orders. Sixteen consecutive keys share a range of the table, because keys are mostly
//! given in sequence and then one cache line serves eight orders.

use super::slab::NONE;

const FIRST_BUCKETS: usize = 16;
/// Low bits of the key that stay in sequence.
const RUN_BITS: u32 = 4;
const RUN_MASK: u32 = (1 << RUN_BITS) - 1;
/// Bits of the hash that select the range.
const STRETCH_BITS: u32 = 32 - RUN_BITS;
/// 2^64 divided by the golden ratio: multiples of it spread evenly.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Clone, Copy, Debug)]
struct Bucket {
    hash: u32,
    slot: u32,
}

const EMPTY: Bucket = Bucket { hash: 0, slot: NONE };

#[derive(Debug)]
pub(super) struct OrderIndex {
    buckets: Vec<Bucket>,
    used: usize,
}

impl OrderIndex {
    pub(super) fn new() -> Self {
        OrderIndex { buckets: vec![EMPTY; FIRST_BUCKETS], used: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// `holds` returns whether a slot is that of the key: two keys may share their 32 bits of hash.
    pub(super) fn find(&self, key: u64, holds: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = hash(key);
        let mut at = self.home_bucket(hash);
        loop {
            let bucket = self.buckets[at];
            if bucket.slot == NONE {
                return None;
            }
            if bucket.hash == hash && holds(bucket.slot) {
                return Some(bucket.slot);
            }
            at = self.next_bucket(at);
        }
    }

    /// The key must not be in the table.
    pub(super) fn insert(&mut self, key: u64, slot: u32) {
        if (self.used + 1) * 8 > self.buckets.len() * 5 {
            self.grow();
        }
        let hash = hash(key);
        self.place_bucket(Bucket { hash, slot });
        self.used += 1;
    }

    /// The key must be in the table, with this slot.
    pub(super) fn remove(&mut self, key: u64, slot: u32) {
        let mut at = self.home_bucket(hash(key));
        while self.buckets[at].slot != slot {
            at = self.next_bucket(at);
        }
        self.close_gap(at);
        self.used -= 1;
    }

    pub(super) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    /// Moves later buckets of the same cluster into the gap, so no tombstones slow the next search.
    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.buckets.len() - 1;
        let mut at = self.next_bucket(gap);
        while self.buckets[at].slot != NONE {
            let home = self.home_bucket(self.buckets[at].hash);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(gap) & mask {
                self.buckets[gap] = self.buckets[at];
                gap = at;
            }
            at = self.next_bucket(at);
        }
        self.buckets[gap] = EMPTY;
    }

    fn grow(&mut self) {
        let larger = vec![EMPTY; self.buckets.len() * 2];
        let old = std::mem::replace(&mut self.buckets, larger);
        for bucket in old {
            if bucket.slot != NONE {
                self.place_bucket(bucket);
            }
        }
    }

    fn place_bucket(&mut self, bucket: Bucket) {
        let mut at = self.home_bucket(bucket.hash);
        while self.buckets[at].slot != NONE {
            at = self.next_bucket(at);
        }
        self.buckets[at] = bucket;
    }

    fn home_bucket(&self, hash: u32) -> usize {
        let stretches = self.buckets.len().trailing_zeros() - RUN_BITS;
        let stretch = (hash >> RUN_BITS) >> (STRETCH_BITS - stretches);
        ((stretch << RUN_BITS) | (hash & RUN_MASK)) as usize
    }

    fn next_bucket(&self, at: usize) -> usize {
        (at + 1) & (self.buckets.len() - 1)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only the low bits of the key are wanted")]
fn hash(key: u64) -> u32 {
    let stretch = (key >> RUN_BITS).wrapping_mul(GOLDEN) >> (64 - STRETCH_BITS);
    ((stretch as u32) << RUN_BITS) | (key as u32 & RUN_MASK)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// In sequence, in strides that agree in their low bits, and all over the place.
    fn key() -> impl Strategy<Value = u64> {
        prop_oneof![
            0..100_u64,
            (0..100_u64).prop_map(|key| key << 20),
            (0..100_u64).prop_map(|key| key << 44),
            any::<u64>()
        ]
    }

    proptest! {
        #[test]
        fn finds_what_was_inserted_and_not_removed(keys in prop::collection::vec(key(), 1..400)) {
            let mut index = OrderIndex::new();
            let mut slots: BTreeMap<u64, u32> = BTreeMap::new();
            for (slot, key) in (0_u32..).zip(&keys) {
                match slots.remove(key) {
                    Some(old) => index.remove(*key, old),
                    None => {
                        index.insert(*key, slot);
                        slots.insert(*key, slot);
                    }
                }
                prop_assert_eq!(index.len(), slots.len());
            }
            for key in &keys {
                let found = index.find(*key, |slot| keys[slot as usize] == *key);
                prop_assert_eq!(found, slots.get(key).copied());
            }
        }
    }
}
