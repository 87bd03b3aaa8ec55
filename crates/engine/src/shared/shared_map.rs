//! Ordered map in parts that a copy shares: leaves of entries below branches of leaves. Its encoding is that of an ordered map.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;

use minicbor::{Decode, Decoder, Encode, Encoder};

/// A change after a copy copies so many entries at the most. Every insertion and removal moves those behind it in their leaf, so more
/// would cost every order.
const LEAF_ENTRIES: usize = 16;
/// And so many references to leaves. A copy takes one step for each branch.
const BRANCH_LEAVES: usize = 64;

/// Sorted parts, each with a key that is not above any of its own and above all of the part before.
type Parts<K, T> = Vec<(K, Arc<Vec<T>>)>;
type Leaf<K, V> = Vec<(K, V)>;
type Branch<K, V> = Parts<K, (K, V)>;

#[derive(Debug, Clone)]
pub(crate) struct SharedMap<K, V> {
    branches: Parts<K, (K, Arc<Leaf<K, V>>)>,
    len: usize,
}

/// Where an entry is: branch, leaf and place in the leaf.
struct Position {
    branch: usize,
    leaf: usize,
    place: usize,
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self { branches: Vec::new(), len: 0 }
    }
}

impl<K: Ord, V> SharedMap<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.position(key)?;
        Some(&self.branches[at.branch].1[at.leaf].1[at.place].1)
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.position(key).is_some()
    }

    /// In the order of the keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let leaves = self.branches.iter().flat_map(|(_, branch)| branch.iter());
        leaves.flat_map(|(_, leaf)| leaf.iter()).map(|(key, value)| (key, value))
    }

    pub(crate) fn first_key(&self) -> Option<&K> {
        let (_, branch) = self.branches.first()?;
        let (_, leaf) = branch.first()?;
        leaf.first().map(|(key, _)| key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    fn position<Q: Ord + ?Sized>(&self, key: &Q) -> Option<Position>
    where
        K: Borrow<Q>,
    {
        let branch = part_of(&self.branches, key)?;
        let leaves = &self.branches[branch].1;
        let leaf = part_of(leaves, key)?;
        let place = leaves[leaf].1.binary_search_by(|(held, _)| held.borrow().cmp(key)).ok()?;
        Some(Position { branch, leaf, place })
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.position(key)?;
        let leaves = Arc::make_mut(&mut self.branches[at.branch].1);
        Some(&mut Arc::make_mut(&mut leaves[at.leaf].1)[at.place].1)
    }

    /// The value of a key, inserted where there is none.
    pub(crate) fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        if !self.contains_key(&key) {
            self.insert(key.clone(), V::default());
        }
        self.get_mut(&key).expect("it is there now")
    }

    /// Sets the value of a key and returns the one before.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let at = part_for(&mut self.branches, &key);
        let branch = Arc::make_mut(&mut self.branches[at].1);
        let before = insert_into(branch, key, value);
        self.len += usize::from(before.is_none());
        if branch.len() > BRANCH_LEAVES {
            let upper = branch.split_off(BRANCH_LEAVES / 2);
            self.branches.insert(at + 1, (upper[0].0.clone(), Arc::new(upper)));
        }
        before
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.position(key)?;
        let leaves = Arc::make_mut(&mut self.branches[at.branch].1);
        let (_, value) = Arc::make_mut(&mut leaves[at.leaf].1).remove(at.place);
        self.len -= 1;
        if leaves[at.leaf].1.len() <= LEAF_ENTRIES / 4 {
            join_small(leaves, at.leaf, LEAF_ENTRIES / 2);
            if leaves.len() <= BRANCH_LEAVES / 4 {
                join_small(&mut self.branches, at.branch, BRANCH_LEAVES / 2);
            }
        }
        Some(value)
    }

    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&K, &mut V) -> bool) {
        *self = self.take().filter_map(|(key, mut value)| is_kept(&key, &mut value).then_some((key, value))).collect();
    }

    /// Takes all entries out.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (K, V)> + use<K, V> {
        let leaves = std::mem::take(self).branches.into_iter().flat_map(|(_, branch)| Arc::unwrap_or_clone(branch));
        leaves.flat_map(|(_, leaf)| Arc::unwrap_or_clone(leaf))
    }
}

/// The part that a key belongs to; absent where it is below all.
fn part_of<K: Borrow<Q>, Q: Ord + ?Sized, T>(parts: &[(K, T)], key: &Q) -> Option<usize> {
    // Where keys rise, as the numbers of orders do, most belong to the last one.
    match parts.last() {
        Some((lowest, _)) if lowest.borrow() <= key => Some(parts.len() - 1),
        _ => parts.partition_point(|(lowest, _)| lowest.borrow() <= key).checked_sub(1),
    }
}

/// The part that a new key goes to, which is made where there is none.
fn part_for<K: Ord + Clone, T>(parts: &mut Parts<K, T>, key: &K) -> usize {
    if let Some(at) = part_of(parts, key) {
        return at;
    }
    match parts.first_mut() {
        Some((lowest, _)) => *lowest = key.clone(),
        None => parts.push((key.clone(), Arc::default())),
    }
    0
}

fn insert_into<K: Ord + Clone, V: Clone>(leaves: &mut Branch<K, V>, key: K, value: V) -> Option<V> {
    let at = part_for(leaves, &key);
    let leaf = Arc::make_mut(&mut leaves[at].1);
    let place = match leaf.binary_search_by(|(held, _)| held.cmp(&key)) {
        Ok(place) => return Some(std::mem::replace(&mut leaf[place].1, value)),
        Err(place) => place,
    };
    if leaf.len() < LEAF_ENTRIES {
        leaf.insert(place, (key, value));
        return None;
    }
    // Where keys rise, leaves stay full.
    let middle = if place == leaf.len() { place } else { LEAF_ENTRIES / 2 };
    let mut upper = Vec::with_capacity(LEAF_ENTRIES);
    upper.extend(leaf.drain(middle..));
    match place.checked_sub(middle) {
        Some(place) => upper.insert(place, (key, value)),
        None => leaf.insert(place, (key, value)),
    }
    leaves.insert(at + 1, (upper[0].0.clone(), Arc::new(upper)));
    None
}

/// Removes a part that is empty, or joins it with a neighbour where both together are small, so that what stays of many does not
/// lie in as many parts.
fn join_small<K, T: Clone>(parts: &mut Parts<K, T>, at: usize, small: usize) {
    if parts[at].1.is_empty() {
        parts.remove(at);
        return;
    }
    let are_small = |lower: usize| lower + 1 < parts.len() && parts[lower].1.len() + parts[lower + 1].1.len() <= small;
    let lower = [Some(at), at.checked_sub(1)].into_iter().flatten().find(|lower| are_small(*lower));
    if let Some(lower) = lower {
        let (_, upper) = parts.remove(lower + 1);
        Arc::make_mut(&mut parts[lower].1).extend(Arc::unwrap_or_clone(upper));
    }
}

impl<K: Ord + Clone, V: Clone> Extend<(K, V)> for SharedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| drop(self.insert(key, value)));
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<C, K: Ord + Encode<C>, V: Encode<C>> Encode<C> for SharedMap<K, V> {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.map(self.len as u64)?;
        for (key, value) in self.iter() {
            key.encode(e, ctx)?;
            value.encode(e, ctx)?;
        }
        Ok(())
    }
}

impl<'b, C, K: Ord + Clone + Decode<'b, C>, V: Clone + Decode<'b, C>> Decode<'b, C> for SharedMap<K, V> {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        BTreeMap::decode(d, ctx).map(|entries: BTreeMap<K, V>| entries.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use domain::SeededRng;

    use super::*;

    /// Parts are sorted, not empty and not too large, and each entry is in the part that its key belongs to.
    fn check_parts(map: &SharedMap<u64, u64>) {
        let mut lowest_before = None;
        for (of_branch, branch) in &map.branches {
            assert!((1..=BRANCH_LEAVES).contains(&branch.len()));
            assert!(*of_branch <= branch[0].0);
            for (of_leaf, leaf) in branch.iter() {
                assert!((1..=LEAF_ENTRIES).contains(&leaf.len()));
                assert!(lowest_before < Some(*of_leaf) && *of_leaf <= leaf[0].0);
                lowest_before = leaf.last().map(|(key, _)| *key);
            }
        }
    }

    /// How often each of inserts, changes and removals happens, of ten; and below what number keys are.
    struct Mix {
        inserts: u64,
        changes: u64,
        keys: u64,
    }

    fn run(seed: u64, mix: &Mix) {
        let mut random = SeededRng::from_seed(seed);
        let (mut map, mut model, mut copies) = (SharedMap::default(), BTreeMap::new(), Vec::new());
        for step in 0..4_000 {
            let key = random.below(mix.keys);
            match random.below(10) {
                kind if kind < mix.inserts => assert_eq!(map.insert(key, step), model.insert(key, step)),
                kind if kind < mix.inserts + mix.changes => {
                    *map.or_default(key) += 1;
                    *model.entry(key).or_default() += 1;
                }
                _ if random.one_in(200) => copies.push((map.clone(), model.clone())),
                _ if random.one_in(500) => {
                    map.retain(|key, value| (*key + *value).is_multiple_of(3));
                    model.retain(|key, value| (*key + *value).is_multiple_of(3));
                }
                _ => assert_eq!(map.remove(&key), model.remove(&key), "seed {seed}, step {step}"),
            }
            assert_eq!((map.len(), map.get(&key)), (model.len(), model.get(&key)), "seed {seed}, step {step}");
        }
        copies.push((map, model));
        for (copy, model) in copies {
            check_parts(&copy);
            assert!(copy.iter().eq(model.iter()), "seed {seed}");
            let bytes = minicbor::to_vec(&copy).unwrap();
            assert_eq!(bytes, minicbor::to_vec(&model).unwrap(), "seed {seed}");
            assert_eq!(minicbor::decode::<SharedMap<u64, u64>>(&bytes).unwrap(), copy, "seed {seed}");
        }
    }

    #[test]
    fn it_is_an_ordered_map_and_a_copy_of_it_never_changes() {
        for seed in 0..8 {
            run(seed, &Mix { inserts: 6, changes: 2, keys: 1_000_000 });
            run(seed, &Mix { inserts: 4, changes: 2, keys: 2_000 });
            run(seed, &Mix { inserts: 2, changes: 1, keys: 300 });
        }
    }

    /// Rising keys fill their leaves. What stays of many is joined, in whichever order the rest is removed.
    #[test]
    fn few_entries_lie_in_few_parts() {
        let full = 100_000_usize.div_ceil(LEAF_ENTRIES);
        let leaves = |map: &SharedMap<u64, u64>| map.branches.iter().map(|(_, branch)| branch.len()).sum::<usize>();
        for is_rising in [true, false] {
            let mut map: SharedMap<u64, u64> = (0..100_000).map(|key| (key, key)).collect();
            assert_eq!(leaves(&map), full);
            for number in 0..100_000_u64 {
                let key = if is_rising { number } else { 99_999 - number };
                if !key.is_multiple_of(100) {
                    map.remove(&key);
                }
            }
            check_parts(&map);
            assert_eq!(map.len(), 1_000);
            assert!(leaves(&map) <= 300 && map.branches.len() <= 32, "{} in {}", leaves(&map), map.branches.len());
        }
    }

    /// However many entries there are, a copy takes a step for each branch, and a change copies one branch and one leaf.
    #[test]
    fn a_copy_shares_what_is_not_changed() {
        let mut map: SharedMap<u64, u64> = (0..100_000).map(|key| (key, key)).collect();
        let copy = map.clone();
        assert!(copy.branches.len() <= 200, "{}", copy.branches.len());
        *map.get_mut(&50_000).unwrap() = 7;
        assert_eq!(map.get_mut(&100_000), None);
        assert_eq!(map.remove(&100_000), None);
        let pairs =
            || copy.branches.iter().zip(&map.branches).filter(|(copied, live)| !Arc::ptr_eq(&copied.1, &live.1));
        assert_eq!(pairs().count(), 1);
        let leaves = pairs().flat_map(|(copied, live)| copied.1.iter().zip(live.1.iter()));
        assert_eq!(leaves.filter(|(copied, live)| !Arc::ptr_eq(&copied.1, &live.1)).count(), 1);
    }
}
