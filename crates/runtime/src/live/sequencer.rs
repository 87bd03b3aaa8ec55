//! Sequencer: gives sequence numbers. Unjournalled prices take numbers too, so numbers are reserved in blocks and never
//! reused after a crash.

use storage::journal::JournalRecord;

use crate::journal_records;

/// How many numbers one reservation gives.
const RESERVATION_BLOCK: u64 = 1_000_000;

#[derive(Debug)]
pub(crate) struct Sequencer {
    last: u64,
    /// Durable: numbers up to here may be given to unjournalled inputs.
    reserved: u64,
    /// In the journal's queue: its own sequence, and the end of its reservation.
    pending_reservation: Option<(u64, u64)>,
}

impl Sequencer {
    /// Continues after everything that was journalled or reserved.
    pub(crate) fn resume_after(last_journalled: u64, reserved: u64) -> Self {
        let last = last_journalled.max(reserved);
        Self { last, reserved: last, pending_reservation: None }
    }

    /// The number of a journalled input.
    pub(crate) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The number of a price; absent while the block is used up and the next one is not durable yet.
    pub(crate) fn next_unjournalled(&mut self) -> Option<u64> {
        self.has_unjournalled().then(|| self.next())
    }

    pub(crate) fn has_unjournalled(&self) -> bool {
        self.last < self.reserved
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn reserved(&self) -> u64 {
        self.pending_reservation.map_or(self.reserved, |(_, up_to)| up_to).max(self.reserved)
    }

    /// A record that reserves the next block, where that is due: when half of the last one is used.
    pub(crate) fn reservation(&mut self) -> Option<JournalRecord> {
        if self.pending_reservation.is_some() || self.reserved.saturating_sub(self.last) > RESERVATION_BLOCK / 2 {
            return None;
        }
        let sequence = self.next();
        let up_to = sequence + RESERVATION_BLOCK;
        self.pending_reservation = Some((sequence, up_to));
        Some(journal_records::reservation(sequence, up_to))
    }

    pub(crate) fn on_durable(&mut self, up_to: u64) {
        if let Some((_, reserved)) = self.pending_reservation.take_if(|(sequence, _)| *sequence <= up_to) {
            self.reserved = reserved;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_gets_no_number_before_its_block_is_durable() {
        let mut numbers = Sequencer::resume_after(0, 0);
        assert_eq!(numbers.next_unjournalled(), None);
        assert_eq!(numbers.reservation().map(|record| record.sequence), Some(1));
        assert_eq!(numbers.next_unjournalled(), None);
        numbers.on_durable(1);
        assert_eq!(numbers.next_unjournalled(), Some(2));
    }

    #[test]
    fn after_a_crash_the_sequence_continues_after_the_block() {
        let mut numbers = Sequencer::resume_after(7, 1_000_001);
        assert_eq!(numbers.next(), 1_000_002);
    }

    #[test]
    fn the_next_block_is_reserved_once_and_in_time() {
        let mut numbers = Sequencer::resume_after(0, 0);
        let first = numbers.reservation().unwrap();
        assert_eq!(numbers.reservation(), None);
        numbers.on_durable(first.sequence);
        assert_eq!(numbers.reservation(), None);
        while numbers.last() < RESERVATION_BLOCK / 2 + 1 {
            numbers.next();
        }
        assert!(numbers.reservation().is_some());
    }
}
