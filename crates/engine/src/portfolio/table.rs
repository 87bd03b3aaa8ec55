//! Append-only table with an index; the row number is the id.

use std::hash::Hash;

use domain::LookupMap;
use minicbor::{Decode, Decoder, Encode, Encoder};

#[derive(Debug, Clone)]
pub(super) struct Table<K, V> {
    rows: Vec<(K, V)>,
    index: LookupMap<K, usize>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: Vec::new(), index: LookupMap::default() }
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Table<K, V> {
    /// The rows alone: the index is made from them.
    pub(super) fn copy_for_disk(&self) -> Self {
        Self { rows: self.rows.clone(), index: LookupMap::default() }
    }
}

impl<K: Copy + Eq + Hash, V> Table<K, V> {
    pub(super) fn rows(&self) -> &[(K, V)] {
        &self.rows
    }

    pub(super) fn row(&self, place: usize) -> Option<&(K, V)> {
        self.rows.get(place)
    }

    pub(super) fn place(&self, key: K) -> Option<usize> {
        self.index.get(&key).copied()
    }

    pub(super) fn get(&self, key: K) -> Option<&V> {
        self.place(key).map(|place| &self.rows[place].1)
    }

    /// Replaces a row, or appends the next one.
    pub(super) fn set(&mut self, place: usize, key: K, value: V) {
        if let Some(row) = self.rows.get_mut(place) {
            row.1 = value;
            return;
        }
        self.index.insert(key, self.rows.len());
        self.rows.push((key, value));
    }

    /// The row of a key, appended where there is none.
    pub(super) fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let place = self.place(key).unwrap_or(self.rows.len());
        if place == self.rows.len() {
            self.set(place, key, V::default());
        }
        &mut self.rows[place].1
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Table<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl<K: Eq, V: Eq> Eq for Table<K, V> {}

impl<C, K: Encode<C>, V: Encode<C>> Encode<C> for Table<K, V> {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        self.rows.encode(e, ctx)
    }
}

impl<'b, C, K: Copy + Eq + Hash + Decode<'b, C>, V: Decode<'b, C>> Decode<'b, C> for Table<K, V> {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let rows: Vec<(K, V)> = Decode::decode(d, ctx)?;
        let places = rows.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        Ok(Self { rows, index: places })
    }
}
