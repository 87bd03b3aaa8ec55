//! Sets of order numbers, as runs: numbers that follow each other take no more room than one.

use std::collections::BTreeMap;

use minicbor::{Decode, Encode};

/// The last number of each run, by its first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub(super) struct NumberRuns(#[n(0)] BTreeMap<u64, u64>);

impl NumberRuns {
    pub(super) fn contains(&self, number: u64) -> bool {
        self.run_at(number).is_some_and(|(_, last)| last >= number)
    }

    pub(super) fn insert(&mut self, number: u64) {
        if self.contains(number) {
            return;
        }
        let before = self.run_at(number).filter(|(_, last)| last.checked_add(1) == Some(number));
        let after = number.checked_add(1).and_then(|next| self.0.remove(&next));
        let first = before.map_or(number, |(first, _)| first);
        self.0.insert(first, after.unwrap_or(number));
    }

    /// The run that begins at the number or before it.
    fn run_at(&self, number: u64) -> Option<(u64, u64)> {
        self.0.range(..=number).next_back().map(|(first, last)| (*first, *last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_run() {
        let mut runs = NumberRuns::default();
        [5, 1, 2, 9, 8, 3, 3, u64::MAX].into_iter().for_each(|number| runs.insert(number));
        assert_eq!(runs.0, BTreeMap::from([(1, 3), (5, 5), (8, 9), (u64::MAX, u64::MAX)]));
        runs.insert(4);
        assert_eq!(runs.0.first_key_value(), Some((&1, &5)));
        let known = [0, 1, 5, 6, 7, 8, 9, 10].map(|number| runs.contains(number));
        assert_eq!(known, [false, true, true, false, false, true, true, false]);
    }
}
