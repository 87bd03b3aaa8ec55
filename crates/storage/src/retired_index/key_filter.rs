//! Bloom filter of 128-bit keys: says in memory of most keys that a file does not have them.

use crate::bytes::field;

/// With three probes about one key of eleven that is not there is looked for in vain.
const BITS_PER_KEY: usize = 5;
const PROBES: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KeyFilter(Vec<u8>);

impl KeyFilter {
    pub(super) fn with_room_for(keys: u64) -> Self {
        let bits = usize::try_from(keys).unwrap_or(usize::MAX / BITS_PER_KEY).saturating_mul(BITS_PER_KEY);
        Self(vec![0; bits.div_ceil(8)])
    }

    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn insert(&mut self, key: u128) {
        for bit in self.probes(key) {
            if let Some(byte) = self.0.get_mut(bit / 8) {
                *byte |= 1 << (bit % 8);
            }
        }
    }

    /// An empty filter knows nothing.
    pub(super) fn may_contain(&self, key: u128) -> bool {
        let is_set = |bit: usize| self.0.get(bit / 8).is_none_or(|byte| byte & (1 << (bit % 8)) != 0);
        self.probes(key).into_iter().all(is_set)
    }

    /// Keys are fingerprints, so parts of one are as good as hashes of it.
    fn probes(&self, key: u128) -> [usize; PROBES] {
        let (bytes, bits) = (key.to_le_bytes(), self.0.len() as u64 * 8);
        std::array::from_fn(|probe| {
            let part = u64::from(u32::from_le_bytes(field(&bytes, probe * 4)));
            usize::try_from((part * bits) >> 32).unwrap_or(usize::MAX)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> u128 {
        domain::lookup_map::fingerprint(&[&number.to_le_bytes()])
    }

    #[test]
    fn a_filter_never_denies_what_it_has_and_denies_most_others() {
        let mut filter = KeyFilter::with_room_for(10_000);
        (0..10_000).for_each(|number| filter.insert(key(number)));
        assert!((0..10_000).all(|number| filter.may_contain(key(number))));
        let wrong = (10_000..20_000).filter(|number| filter.may_contain(key(*number))).count();
        assert!((1..1_500).contains(&wrong), "{wrong}");
        assert!(KeyFilter::default().may_contain(key(1)), "an empty filter knows nothing");
    }
}
