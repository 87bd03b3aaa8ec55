//! Duplicate filter: after a gap the server sends events again; those that were received before are dropped, so that
//! the strategy receives each once.

use std::collections::BTreeSet;

use domain::lookup_map::fingerprint;

/// Events that are kept; a gap is repeated from the newest sequence on, so few are needed.
const EVENTS_MAX: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct DuplicateFilter {
    events: BTreeSet<(u64, u128)>,
    newest: u64,
}

impl DuplicateFilter {
    /// Whether an event is new.
    pub(super) fn is_new(&mut self, sequence: u64, class: u8, payload: &[u8]) -> bool {
        self.newest = self.newest.max(sequence);
        let is_new = self.events.insert((sequence, fingerprint(&[&[class], payload])));
        if self.events.len() > EVENTS_MAX {
            self.events.pop_first();
        }
        is_new
    }

    /// Everything up to this sequence was received.
    pub(super) fn newest(&self) -> u64 {
        self.newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_input_caused_is_several_events_and_each_is_heard_once() {
        let mut seen = DuplicateFilter::default();
        let told = [(5, 1, "a"), (5, 2, "a"), (5, 1, "a"), (6, 1, "a"), (5, 2, "a"), (5, 1, "b")];
        let new =
            told.map(|(sequence, class, payload): (u64, u8, &str)| seen.is_new(sequence, class, payload.as_bytes()));
        assert_eq!((new, seen.newest()), ([true, true, false, true, false, true], 6));
    }
}
