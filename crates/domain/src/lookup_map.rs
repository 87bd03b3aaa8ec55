//! Hash map without iteration, so that it is safe in deterministic crates.

// The ban on HashMap guards against iteration in an order that changes from run to run; this type offers no iteration.
#![allow(clippy::disallowed_types)]

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::ids::SecurityId;

/// Look-ups by key in constant time. To iterate over the entries, keep them in an ordered collection as well.
#[derive(Debug, Clone)]
pub struct LookupMap<K, V>(HashMap<K, V, BuildHasherDefault<FixedHasher>>);

impl<K, V> Default for LookupMap<K, V> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Eq + Hash, V> LookupMap<K, V> {
    /// The value of a key, where it has one.
    #[inline]
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    /// The value of a key to be changed, where it has one.
    #[inline]
    pub fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.0.get_mut(key)
    }

    /// Whether the key has a value.
    #[inline]
    pub fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// Sets the value of a key and returns the one before.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    /// The entry, inserted where there is none: one look-up for both.
    #[inline]
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.0.entry(key).or_default()
    }

    /// Removes a key and returns its value.
    #[inline]
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.remove(key)
    }

    /// How many keys have a value.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no key has a value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Eq + Hash, V> FromIterator<(K, V)> for LookupMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// Ids below this are kept in a vector.
const DENSE_IDS_MAX: usize = 65_536;

/// As [`LookupMap`], by security. Ids that count up from one need no hash, which matters where every price is looked up
/// several times.
#[derive(Debug, Clone)]
pub struct SecurityMap<V> {
    dense: Vec<Option<V>>,
    sparse: LookupMap<SecurityId, V>,
}

impl<V> Default for SecurityMap<V> {
    fn default() -> Self {
        Self { dense: Vec::new(), sparse: LookupMap::default() }
    }
}

impl<V: Copy> SecurityMap<V> {
    /// A copy of the value of a security, where it has one.
    #[inline]
    pub fn get(&self, security: SecurityId) -> Option<V> {
        match slot_index(security).and_then(|place| self.dense.get(place)) {
            Some(near) => *near,
            None => self.get_sparse(security),
        }
    }

    #[cold]
    fn get_sparse(&self, security: SecurityId) -> Option<V> {
        self.sparse.get(&security).copied()
    }

    /// Sets the value of a security.
    pub fn insert(&mut self, security: SecurityId, value: V) {
        match slot_index(security).filter(|place| *place < DENSE_IDS_MAX) {
            Some(place) => {
                self.dense.resize(self.dense.len().max(place + 1), None);
                self.dense[place] = Some(value);
            }
            None => drop(self.sparse.insert(security, value)),
        }
    }

    /// Removes the value of a security; without one nothing happens.
    pub fn remove(&mut self, security: SecurityId) {
        match slot_index(security).and_then(|place| self.dense.get_mut(place)) {
            Some(near) => *near = None,
            None => drop(self.sparse.remove(&security)),
        }
    }
}

#[inline]
fn slot_index(security: SecurityId) -> Option<usize> {
    usize::try_from(security.0).ok()
}

/// Multiply and rotate, a word at a time: quick on short keys, the same in every run.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedHasher(u64);

impl FixedHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for FixedHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.add(u64::from_le_bytes(word.try_into().expect("chunks of eight")));
        }
        let mut tail = [0; 8];
        tail[..words.remainder().len()].copy_from_slice(words.remainder());
        self.add(u64::from_le_bytes(tail));
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.add(byte.into());
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    /// Fingerprints are the keys that are looked up most.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // both halves count
    fn write_u128(&mut self, words: u128) {
        self.add(words as u64);
        self.add((words >> 64) as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The table uses the low bits, which a multiplication mixes poorly.
        self.0 ^ (self.0 >> 32)
    }
}

/// A 128-bit fingerprint that is the same on every machine and in every release (FNV-1a).
pub fn fingerprint(parts: &[&[u8]]) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mut add = |byte: u8| hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    for part in parts {
        part.iter().copied().for_each(&mut add);
        // A separator between the parts, so that ("ab", "c") and ("a", "bc") differ.
        add(0xff);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_stable_and_tell_parts_apart() {
        assert_eq!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"ab", b"c"]));
        assert_ne!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"a", b"bc"]));
    }

    #[test]
    fn near_and_far_ids_are_found_alike() {
        let ids = [0, 7, DENSE_IDS_MAX as u64 - 1, DENSE_IDS_MAX as u64, u64::MAX].map(SecurityId);
        let mut places = SecurityMap::default();
        for (place, id) in ids.into_iter().enumerate() {
            assert_eq!(places.get(id), None);
            places.insert(id, place);
        }
        assert_eq!(ids.map(|id| places.get(id)), [0, 1, 2, 3, 4].map(Some));
        assert_eq!(places.get(SecurityId(8)), None);
        ids.into_iter().for_each(|id| places.remove(id));
        assert_eq!(ids.map(|id| places.get(id)), [None; 5]);
    }
}
