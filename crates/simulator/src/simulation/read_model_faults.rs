//! Faults of the read model: it is older than the journal, it is lost, or a row of it cannot be read.

use super::SimulatedRun;
use crate::invariants::broken_invariant::InvariantResult;

/// Fewer than there are inputs between two snapshots, so that the older of two snapshots will do.
const NEWEST_ROWS: usize = 60;

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
        // Several may be bad at a time: the copy must be older than all of them.
        self.bad_row = Some(self.bad_row.map_or(sequence, |other| other.min(sequence)));
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
