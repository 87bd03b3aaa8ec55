//! Which reports of venues are durable: an adapter lets its venue forget them.

use std::collections::VecDeque;

use bus::inbox::ReportProgress;

/// Reports in the order in which the loop took them.
#[derive(Debug, Default)]
pub(crate) struct ReportCounter {
    taken: u64,
    /// The last sequence of a turn, and how many reports were taken until then.
    turns: VecDeque<(u64, u64)>,
}

impl ReportCounter {
    /// The turn that took them is journalled up to that sequence.
    pub(crate) fn count(&mut self, reports: u64, sequence: u64) {
        if reports > 0 {
            self.taken += reports;
            self.turns.push_back((sequence, self.taken));
        }
    }

    /// Tells how many reports are durable, where the journal is durable up to that sequence.
    pub(crate) fn release(&mut self, durable: u64, progress: &ReportProgress) {
        while let Some((_, taken)) = self.turns.pop_front_if(|(sequence, _)| *sequence <= durable) {
            progress.set_durable(taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_durable_with_the_last_record_of_their_turn() {
        let (mut counter, progress) = (ReportCounter::default(), ReportProgress::default());
        counter.count(2, 10);
        counter.count(0, 12);
        counter.count(1, 15);
        let mut durable_at = |sequence: u64| {
            counter.release(sequence, &progress);
            progress.durable()
        };
        assert_eq!([9, 10, 14, 15, 20].map(&mut durable_at), [0, 2, 2, 3, 3]);
        counter.count(3, 20);
        counter.release(20, &progress);
        assert_eq!(progress.durable(), 6);
    }
}
