//! How often the whole journal is replayed in a long run.

/// A read model that is far behind makes the next start replay the whole journal. All these replays of a run together have no more
/// records than so many journals as it is then, or than so many records; beyond that a read model loses its newest rows only.
const REPLAYED_JOURNALS_MAX: u64 = 2;
const REPLAYED_RECORDS_MAX: u64 = 10_000;

/// How much was replayed because a read model was far behind.
#[derive(Debug, Default)]
pub(super) struct ReplayBudget {
    used: u64,
}

impl ReplayBudget {
    /// Whether a journal of so many records may be replayed as a whole once more; it is counted then.
    pub(super) fn allows(&mut self, records: u64) -> bool {
        let is_allowed = self.used + records <= REPLAYED_RECORDS_MAX.max(REPLAYED_JOURNALS_MAX * records);
        self.used += if is_allowed { records } else { 0 };
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_journals_are_replayed_as_often_as_needed_and_long_ones_twice_as_long_as_they_are() {
        let mut budget = ReplayBudget::default();
        assert!((0..10).all(|_| budget.allows(REPLAYED_RECORDS_MAX / 10)));
        assert!(!budget.allows(REPLAYED_RECORDS_MAX / 10));
        assert!(budget.allows(REPLAYED_RECORDS_MAX), "a journal that has grown since");
        assert!(!budget.allows(REPLAYED_RECORDS_MAX));
    }
}
