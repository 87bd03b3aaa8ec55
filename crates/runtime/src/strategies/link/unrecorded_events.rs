//! Delivered events that history does not have: changes of sessions and of trading states. The newest are kept, so that a process
//! that lost its connection gets them with its replay.

use std::collections::VecDeque;

use domain::{Event, PublishedEvent};

/// More are not kept; where more were missed the strategy is disconnected.
pub(crate) const UNRECORDED_MAX: usize = 1_024;

#[derive(Default)]
pub(super) struct UnrecordedEvents {
    kept: VecDeque<PublishedEvent>,
    /// The sequence of the newest that is no longer kept.
    dropped: u64,
}

impl UnrecordedEvents {
    /// Keeps an event that is delivered, where a replay from history would not have it.
    pub(super) fn keep(&mut self, published: &PublishedEvent) {
        if !matches!(published.event, Event::Session(_) | Event::TradingState(_)) {
            return;
        }
        self.kept.push_back(published.clone());
        if self.kept.len() > UNRECORDED_MAX {
            self.dropped = self.kept.pop_front().map_or(self.dropped, |oldest| oldest.sequence);
        }
    }

    /// Takes those after a sequence, to be delivered again. Absent where not all of them are kept.
    pub(super) fn take_after(&mut self, sequence: u64) -> Option<VecDeque<PublishedEvent>> {
        let first = self.kept.partition_point(|published| published.sequence <= sequence);
        (self.dropped <= sequence).then(|| self.kept.split_off(first))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::Timestamp;
    use domain::risk::{RiskScope, TradingState, TradingStateChange};

    use super::*;

    fn halt(sequence: u64) -> PublishedEvent {
        let (scope, state, at) = (RiskScope::Platform, TradingState::Halted, Timestamp(0));
        let change = TradingStateChange { scope, state, at, reason: None, changed_by: None };
        PublishedEvent { sequence, at: Timestamp(0), event: Event::TradingState(Arc::new(change)) }
    }

    fn sequences(events: Option<VecDeque<PublishedEvent>>) -> Option<Vec<u64>> {
        events.map(|events| events.iter().map(|published| published.sequence).collect())
    }

    #[test]
    fn what_was_missed_is_given_once_and_nothing_that_history_has() {
        let mut events = UnrecordedEvents::default();
        let tick = Event::Tick(Arc::new(samples::tick(1)));
        events.keep(&PublishedEvent { sequence: 6, at: Timestamp(0), event: tick });
        [3, 5, 5, 9].map(halt).iter().for_each(|published| events.keep(published));
        assert_eq!(sequences(events.take_after(4)), Some(vec![5, 5, 9]));
        assert_eq!(sequences(events.take_after(0)), Some(vec![3]));
    }

    #[test]
    fn where_more_were_missed_than_are_kept_there_is_no_answer() {
        let mut events = UnrecordedEvents::default();
        (1..=UNRECORDED_MAX as u64 + 2).map(halt).for_each(|published| events.keep(&published));
        assert_eq!(sequences(events.take_after(1)), None);
        assert_eq!(sequences(events.take_after(2)).map(|kept| kept.len()), Some(UNRECORDED_MAX));
    }
}
