//! Records of a stream by key, in parts that a copy shares. The engine's loop stands still while the Ledger is copied for a snapshot, and a
//! FIX session has up to some hundred thousand messages: a copy takes one step for each part, and a change after it copies one part.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use minicbor::bytes::ByteVec;
use minicbor::{Encode, Encoder};

/// Keys of one part: numbers of messages follow each other, so that a part has about as many records.
const PART_KEYS: u64 = 64;

/// By rising keys.
type Part = Vec<(u64, Arc<ByteVec>)>;

/// Each part has the records of its range of keys, and at least one.
#[derive(Debug, Default, Clone)]
pub(super) struct RecordMap {
    parts: BTreeMap<u64, Arc<Part>>,
    len: usize,
}

impl RecordMap {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Arc<ByteVec>)> {
        self.parts.values().flat_map(|part| part.iter()).map(|(key, bytes)| (*key, bytes))
    }

    /// The records of a range that is not empty.
    pub(super) fn range(&self, keys: RangeInclusive<u64>) -> impl Iterator<Item = (u64, &Arc<ByteVec>)> {
        let parts = self.parts.range(part_of(*keys.start())..=part_of(*keys.end()));
        let records = parts.flat_map(|(_, part)| part.iter());
        records.filter(move |(key, _)| keys.contains(key)).map(|(key, bytes)| (*key, bytes))
    }

    pub(super) fn last(&self) -> Option<(u64, &Arc<ByteVec>)> {
        let (key, bytes) = self.parts.last_key_value()?.1.last()?;
        Some((*key, bytes))
    }

    /// Sets the record of a key and returns the one before.
    pub(super) fn insert(&mut self, key: u64, bytes: Arc<ByteVec>) -> Option<Arc<ByteVec>> {
        let part = Arc::make_mut(self.parts.entry(part_of(key)).or_default());
        match part.binary_search_by_key(&key, |(held, _)| *held) {
            Ok(place) => Some(std::mem::replace(&mut part[place].1, bytes)),
            Err(place) => {
                part.insert(place, (key, bytes));
                self.len += 1;
                None
            }
        }
    }

    pub(super) fn pop_first(&mut self) -> Option<(u64, Arc<ByteVec>)> {
        let mut part = self.parts.first_entry()?;
        let first = Arc::make_mut(part.get_mut()).remove(0);
        if part.get().is_empty() {
            part.remove();
        }
        self.len -= 1;
        Some(first)
    }

    /// Removes the records below a key and returns them.
    pub(super) fn remove_below(&mut self, key: u64) -> Vec<Arc<ByteVec>> {
        let kept = self.parts.split_off(&part_of(key));
        let whole = std::mem::replace(&mut self.parts, kept);
        let mut removed: Vec<_> = whole.into_values().flat_map(Arc::unwrap_or_clone).map(|(_, bytes)| bytes).collect();
        if let Some(mut part) = self.parts.first_entry().filter(|part| part.get()[0].0 < key) {
            let records = Arc::make_mut(part.get_mut());
            let below = records.partition_point(|(held, _)| *held < key);
            removed.extend(records.drain(..below).map(|(_, bytes)| bytes));
            if records.is_empty() {
                part.remove();
            }
        }
        self.len -= removed.len();
        removed
    }
}

fn part_of(key: u64) -> u64 {
    key / PART_KEYS
}

impl FromIterator<(u64, Arc<ByteVec>)> for RecordMap {
    fn from_iter<I: IntoIterator<Item = (u64, Arc<ByteVec>)>>(records: I) -> Self {
        let mut map = Self::default();
        records.into_iter().for_each(|(key, bytes)| drop(map.insert(key, bytes)));
        map
    }
}

/// As an ordered map is encoded.
impl<C> Encode<C> for RecordMap {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.map(self.len as u64)?;
        for (key, bytes) in self.iter() {
            key.encode(e, ctx)?;
            (**bytes).encode(e, ctx)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use domain::SeededRng;

    use super::*;

    type Model = BTreeMap<u64, ByteVec>;

    fn record(number: u64) -> ByteVec {
        ByteVec::from(format!("message {number}").into_bytes())
    }

    /// Against an ordered map, with copies that stay as they were and are encoded as such a map is.
    #[test]
    fn it_is_an_ordered_map_and_a_copy_of_it_never_changes() {
        for seed in 0..20 {
            let mut random = SeededRng::from_seed(seed);
            let (mut map, mut model, mut copies, mut next) = (RecordMap::default(), Model::new(), Vec::new(), 0);
            for step in 0..2_000 {
                match random.below(20) {
                    0..15 => {
                        next += 1 + u64::from(random.one_in(50)) * random.below(1_000);
                        let key = if random.one_in(20) { random.below(next + 1) } else { next };
                        let before = map.insert(key, Arc::new(record(step)));
                        assert_eq!(before.as_deref(), model.insert(key, record(step)).as_ref());
                    }
                    15 => {
                        let first = map.pop_first().map(|(key, bytes)| (key, ByteVec::clone(&bytes)));
                        assert_eq!(first, model.pop_first());
                    }
                    16 if random.one_in(10) => {
                        let below = random.below(next + 2);
                        let kept = model.split_off(&below);
                        let gone = std::mem::replace(&mut model, kept);
                        assert!(map.remove_below(below).iter().map(|bytes| &**bytes).eq(gone.values()));
                    }
                    17..19 => copies.push((map.clone(), model.clone())),
                    _ => {
                        let (low, high) = (random.below(next + 1), random.below(next + 2_000));
                        if low <= high {
                            let found = map.range(low..=high).map(|(key, bytes)| (key, &**bytes));
                            assert!(found.eq(model.range(low..=high).map(|(key, bytes)| (*key, bytes))));
                        }
                    }
                }
                assert_eq!(map.last().map(|(key, _)| key), model.last_key_value().map(|(key, _)| *key));
            }
            copies.push((map, model));
            for (copy, model) in copies {
                assert_eq!((copy.len, copy.is_empty()), (model.len(), model.is_empty()));
                assert!(copy.parts.values().all(|part| !part.is_empty()));
                let bytes = minicbor::to_vec(&copy).unwrap();
                assert_eq!(bytes, minicbor::to_vec(&model).unwrap(), "seed {seed}");
            }
        }
    }

    /// However many messages there are, a copy takes a step for each part, and a change copies one part.
    #[test]
    fn a_copy_shares_what_is_not_changed() {
        let mut map: RecordMap = (0..60_000).map(|key| (key, Arc::new(record(key)))).collect();
        let copy = map.clone();
        assert_eq!(copy.parts.len(), 60_000_usize.div_ceil(64));
        map.insert(30_000, Arc::new(record(0)));
        map.pop_first();
        let own = copy.parts.iter().filter(|(key, part)| !Arc::ptr_eq(part, &map.parts[*key])).count();
        assert_eq!(own, 2, "the part of the record that changed, and the first one");
    }
}
