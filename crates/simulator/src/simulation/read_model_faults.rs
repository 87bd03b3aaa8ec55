//! Faults of the read model: it is older than the journal, it is lost, or a row of it cannot be read.

use super::SimulatedRun;
use crate::invariants::broken_invariant::InvariantResult;

/// A read model that is far behind makes the next start replay the whole journal. All these replays of a run together have no more
/// records than so many journals as it is then, or than so many records; beyond that a read model loses its newest rows only.
const REPLAYED_JOURNALS_MAX: u64 = 2;
const REPLAYED_RECORDS_MAX: u64 = 10_000;
/// Fewer than there are inputs between two snapshots, so that the older of two snapshots will do.
const NEWEST_ROWS: usize = 60;

/// How much was replayed because a read model was far behind.
#[derive(Debug, Default)]
pub(super) struct ReplayBudget {
    used: u64,
}

impl ReplayBudget {
    /// Whether a journal of so many records may be replayed as a whole once more; it is counted then.
    fn allows(&mut self, records: u64) -> bool {
        let is_allowed = self.used + records <= REPLAYED_RECORDS_MAX.max(REPLAYED_JOURNALS_MAX * records);
        self.used += if is_allowed { records } else { 0 };
        is_allowed
    }
}

impl SimulatedRun {
    pub(super) fn roll_back_read_model(&mut self, sequence: u64) {
        let records = self.books.as_ref().map_or(0, |(books, _)| books.recovered.replayed);
        let read_model = &self.machine.read_model;
        let is_far = self.replay_budget.allows(records);
        read_model.roll_back_to(if is_far { sequence } else { sequence.max(read_model.before_newest(NEWEST_ROWS)) });
    }

    pub(super) fn damage_row(&mut self, draw: u64, until: i64) {
        let Some(sequence) = self.machine.read_model.damage_row(draw) else { return };
        self.trace.line(format_args!("events of input {sequence} cannot be read any more"));
        self.bad_row = Some(sequence);
        self.bad_row_until = until;
    }

    /// What an operator does where a row cannot be read: the read model is deleted, or where that takes too long replaced by a copy from
    /// before that row. The next start makes the rest again from the journal.
    pub(super) fn delete_read_model(&mut self) -> InvariantResult {
        self.bad_row_until = 0;
        let Some(sequence) = self.bad_row.take() else { return Ok(()) };
        let records = self.books.as_ref().map_or(0, |(books, _)| books.recovered.replayed);
        let is_whole = self.replay_budget.allows(records);
        self.machine.read_model.roll_back_to(if is_whole { 0 } else { sequence.saturating_sub(1) });
        self.end_process("stopped, and its read model is deleted", false)
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
