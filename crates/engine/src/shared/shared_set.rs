//! Ordered set in parts that a copy shares. Its encoding is that of an ordered set.

use std::collections::BTreeSet;

use minicbor::{Decode, Decoder, Encode, Encoder};

use super::shared_map::SharedMap;

#[derive(Debug, Clone)]
pub(crate) struct SharedSet<K>(SharedMap<K, ()>);

impl<K> Default for SharedSet<K> {
    fn default() -> Self {
        Self(SharedMap::default())
    }
}

impl<K: Ord> PartialEq for SharedSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Ord> SharedSet<K> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn first(&self) -> Option<&K> {
        self.0.first_key()
    }

    /// In order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &K> {
        self.0.keys()
    }
}

impl<K: Ord + Clone> SharedSet<K> {
    /// Returns whether it is new.
    pub(crate) fn insert(&mut self, key: K) -> bool {
        self.0.insert(key, ()).is_none()
    }

    pub(crate) fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key).is_some()
    }

    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&K) -> bool) {
        self.0.retain(|key, ()| is_kept(key));
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl<K: Ord + Clone> Extend<K> for SharedSet<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.0.extend(keys.into_iter().map(|key| (key, ())));
    }
}

impl<K: Ord + Clone> FromIterator<K> for SharedSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        Self(keys.into_iter().map(|key| (key, ())).collect())
    }
}

impl<C, K: Ord + Encode<C>> Encode<C> for SharedSet<K> {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(self.len() as u64)?;
        self.iter().try_for_each(|key| key.encode(e, ctx))
    }
}

impl<'b, C, K: Ord + Clone + Decode<'b, C>> Decode<'b, C> for SharedSet<K> {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        BTreeSet::decode(d, ctx).map(|keys: BTreeSet<K>| keys.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_an_ordered_set_and_encoded_as_one() {
        let (mut set, mut model) = (SharedSet::default(), BTreeSet::new());
        for number in (0..500_u64).map(|number| number * 7_919 % 331) {
            assert_eq!(set.insert(number), model.insert(number));
        }
        assert_eq!((set.remove(&7), set.remove(&7), set.contains(&7)), (true, false, false));
        model.remove(&7);
        set.retain(|number| number.is_multiple_of(2));
        model.retain(|number| number.is_multiple_of(2));
        assert_eq!((set.len(), set.first()), (model.len(), model.first()));
        let bytes = minicbor::to_vec(&set).unwrap();
        assert_eq!(bytes, minicbor::to_vec(&model).unwrap());
        let read: SharedSet<u64> = minicbor::decode(&bytes).unwrap();
        assert!(read.iter().eq(&model));
        set.clear();
        assert!(set.is_empty());
    }
}
