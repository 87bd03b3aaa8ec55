//! List in chunks that a copy shares. It grows at its end.

use std::sync::Arc;

use minicbor::{Decode, Decoder, Encode, Encoder};

/// A change after a copy copies so many values at the most.
const CHUNK_VALUES: usize = 64;

/// Every chunk but the last is full.
#[derive(Debug, Clone)]
pub(crate) struct SharedList<T>(Vec<Arc<Vec<T>>>);

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> SharedList<T> {
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.0.get(place / CHUNK_VALUES)?.get(place % CHUNK_VALUES)
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.0.last()?.last()
    }

    pub(crate) fn len(&self) -> usize {
        let full = self.0.len().saturating_sub(1) * CHUNK_VALUES;
        full + self.0.last().map_or(0, |chunk| chunk.len())
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &T> + DoubleEndedIterator {
        (0..self.len()).map(|place| &self.0[place / CHUNK_VALUES][place % CHUNK_VALUES])
    }

    /// The place of a value in a list that is sorted by a key.
    pub(crate) fn search_by_key<K: Ord>(&self, wanted: &K, key: impl Fn(&T) -> K) -> Option<usize> {
        let begins_by = |chunk: &Arc<Vec<T>>| chunk.first().is_some_and(|first| key(first) <= *wanted);
        let chunk = self.0.partition_point(begins_by).checked_sub(1)?;
        let place = self.0[chunk].binary_search_by_key(wanted, &key).ok()?;
        Some(chunk * CHUNK_VALUES + place)
    }
}

impl<T: Clone> SharedList<T> {
    pub(crate) fn push(&mut self, value: T) {
        match self.0.last_mut().filter(|chunk| chunk.len() < CHUNK_VALUES) {
            Some(chunk) => Arc::make_mut(chunk).push(value),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK_VALUES);
                chunk.push(value);
                self.0.push(Arc::new(chunk));
            }
        }
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        Arc::make_mut(self.0.get_mut(place / CHUNK_VALUES)?).get_mut(place % CHUNK_VALUES)
    }

    /// Takes all values out.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = T> {
        std::mem::take(&mut self.0).into_iter().flat_map(Arc::unwrap_or_clone)
    }
}

impl<T: Clone> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut list = Self::default();
        values.into_iter().for_each(|value| list.push(value));
        list
    }
}

impl<T, C> Encode<C> for SharedList<T>
where
    T: Encode<C>,
{
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(self.len() as u64)?;
        self.iter().try_for_each(|value| value.encode(e, ctx))
    }
}

impl<'b, T: Clone + Decode<'b, C>, C> Decode<'b, C> for SharedList<T> {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        Vec::decode(d, ctx).map(|values: Vec<T>| values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use domain::SeededRng;

    use super::*;

    /// Against a vector, with copies that stay as they were.
    #[test]
    fn it_is_a_list_and_a_copy_of_it_never_changes() {
        for seed in 0..20 {
            let mut random = SeededRng::from_seed(seed);
            let (mut list, mut model, mut copies) = (SharedList::default(), Vec::new(), Vec::new());
            for step in 0..1_000_u64 {
                match random.below(20) {
                    0..15 => {
                        list.push(step);
                        model.push(step);
                    }
                    15..18 => {
                        let place = usize::try_from(random.below(model.len() as u64 + 1)).unwrap();
                        list.get_mut(place).into_iter().for_each(|value| *value += 1);
                        model.get_mut(place).into_iter().for_each(|value| *value += 1);
                        assert_eq!(list.get(place), model.get(place), "seed {seed}, step {step}");
                    }
                    18 if random.one_in(10) => assert!(list.take().eq(model.drain(..)), "seed {seed}, step {step}"),
                    _ => copies.push((list.clone(), model.clone())),
                }
                assert_eq!((list.len(), list.last()), (model.len(), model.last()));
            }
            copies.push((list, model));
            for (copy, model) in copies {
                assert!(copy.iter().eq(&model), "seed {seed}");
                assert_eq!(minicbor::to_vec(&copy).unwrap(), minicbor::to_vec(&model).unwrap(), "seed {seed}");
            }
        }
    }

    /// However long it is, a copy takes a step for each chunk, and a change copies one chunk.
    #[test]
    fn a_copy_shares_what_is_not_changed() {
        let mut list: SharedList<usize> = (0..1_000).collect();
        let copy = list.clone();
        assert_eq!(copy.0.len(), 1_000_usize.div_ceil(CHUNK_VALUES));
        *list.get_mut(500).unwrap() = 7;
        list.push(1_000);
        let own = copy.0.iter().zip(&list.0).filter(|(copied, live)| !Arc::ptr_eq(copied, live)).count();
        assert_eq!(own, 2, "the chunk of the value that changed, and the last one");
    }
}
