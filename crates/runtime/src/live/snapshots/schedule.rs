//! Snapshot schedule: after how many inputs, how many bytes of the journal and how much time the next snapshot is due. A start replays
//! what the newest snapshot does not have.

use domain::Timestamp;

/// The largest value of each means that it is never due for that reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotSchedule {
    /// Or as many as there are orders if more: each snapshot encodes all of them.
    pub every_inputs: u64,
    /// Bytes of records in the journal.
    pub every_bytes: u64,
    /// Age of the oldest input that the newest snapshot does not have.
    pub every_nanos: i64,
}

impl SnapshotSchedule {
    /// By the number of inputs alone.
    pub fn every_inputs(inputs: u64) -> Self {
        Self { every_inputs: inputs, every_bytes: u64::MAX, every_nanos: i64::MAX }
    }
}

/// What the journal has and the newest snapshot does not have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnsavedInputs {
    inputs: u64,
    bytes: u64,
    /// When the first of them was journalled.
    since: Timestamp,
}

impl UnsavedInputs {
    pub(crate) fn new(inputs: u64, since: Timestamp) -> Self {
        Self { inputs, bytes: 0, since }
    }

    pub(crate) fn add(&mut self, at: Timestamp, sizes: impl ExactSizeIterator<Item = usize>) {
        if self.inputs == 0 {
            self.since = at;
        }
        self.inputs += sizes.len() as u64;
        self.bytes += sizes.map(|size| size as u64).sum::<u64>();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inputs == 0
    }

    /// `at` is when the newest of them was journalled.
    pub(crate) fn is_due(&self, schedule: &SnapshotSchedule, orders: u64, at: Timestamp) -> bool {
        let is_old = at.0.saturating_sub(self.since.0) >= schedule.every_nanos;
        !self.is_empty()
            && (self.inputs >= schedule.every_inputs.max(orders) || self.bytes >= schedule.every_bytes || is_old)
    }

    /// A snapshot has them.
    pub(crate) fn clear(&mut self) {
        (self.inputs, self.bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: SnapshotSchedule = SnapshotSchedule { every_inputs: 100, every_bytes: 1_000, every_nanos: 60 };

    fn due_after(inputs: usize, bytes: usize, orders: u64, nanos: i64) -> bool {
        let mut unsaved = UnsavedInputs::new(0, Timestamp(0));
        unsaved.add(Timestamp(1_000), vec![bytes; inputs].into_iter());
        unsaved.is_due(&SCHEDULE, orders, Timestamp(1_000 + nanos))
    }

    #[test]
    fn a_snapshot_is_due_by_number_by_size_and_by_age() {
        assert_eq!([due_after(99, 1, 0, 0), due_after(100, 1, 0, 0)], [false, true]);
        assert_eq!([due_after(9, 111, 0, 0), due_after(10, 100, 0, 0)], [false, true]);
        assert_eq!([due_after(1, 1, 0, 59), due_after(1, 1, 0, 60)], [false, true]);
    }

    #[test]
    fn with_many_orders_it_takes_as_many_inputs_but_neither_more_bytes_nor_more_time() {
        assert_eq!([due_after(100, 1, 101, 0), due_after(101, 1, 101, 0)], [false, true]);
        assert_eq!([due_after(10, 100, 101, 0), due_after(1, 1, 101, 60)], [true, true]);
    }

    #[test]
    fn nothing_is_due_where_nothing_is_new() {
        let mut unsaved = UnsavedInputs::new(5, Timestamp(0));
        assert!(unsaved.is_due(&SCHEDULE, 0, Timestamp(60)));
        unsaved.clear();
        assert!(!unsaved.is_due(&SCHEDULE, 0, Timestamp(1_000)));
        unsaved.add(Timestamp(2_000), [1].into_iter());
        assert!(!unsaved.is_due(&SCHEDULE, 0, Timestamp(2_059)));
    }
}
