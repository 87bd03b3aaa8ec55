//! Recent events, which are in history too. A replay reads history up to these, takes the rest from here and then joins
//! the live feed, without a gap or a duplicate.

use std::collections::VecDeque;
use std::sync::Arc;

use bus::history::is_stored;
use domain::PublishedEvent;

use crate::hub::event_message::{EventMessage, ReplayPosition};
use crate::limits::{RECENT_BYTES_MAX, RECENT_EVENTS_MAX};

/// The newest events.
#[derive(Default)]
pub(crate) struct RecentEvents {
    events: VecDeque<(ReplayPosition, Arc<EventMessage>)>,
    /// Approximate octets.
    octets: usize,
    /// Everything after this was received and is here; `None` while that is not known.
    complete_after: Option<ReplayPosition>,
    newest: Option<ReplayPosition>,
}

impl RecentEvents {
    /// All events after this sequence will be received.
    pub(crate) fn start_after(&mut self, sequence: u64) {
        *self = Self { complete_after: Some(ReplayPosition::end_of(sequence)), ..Self::default() };
    }

    /// Some events may be lost.
    pub(crate) fn mark_gap(&mut self) {
        *self = Self::default();
    }

    /// The position of a new event; `None` where it is not stored, or where earlier ones may be missing.
    pub(crate) fn assign_position(&mut self, published: &PublishedEvent) -> Option<ReplayPosition> {
        if !is_stored(published.event.class()) {
            return None;
        }
        let sequence = published.sequence;
        let before = self.newest.filter(|newest| newest.sequence == sequence);
        let position = ReplayPosition { sequence, index: before.map_or(0, |newest| newest.index + 1) };
        let is_next = self.newest < Some(position);
        self.newest = self.newest.max(Some(position));
        self.complete_after.is_some_and(|floor| floor < position && is_next).then_some(position)
    }

    /// The oldest is evicted.
    pub(crate) fn push(&mut self, position: ReplayPosition, message: &Arc<EventMessage>) {
        self.octets += message.octets();
        self.events.push_back((position, message.clone()));
        while self.events.len() > RECENT_EVENTS_MAX || self.octets > RECENT_BYTES_MAX {
            let Some((oldest, message)) = self.events.pop_front() else { return };
            self.octets -= message.octets();
            self.complete_after = Some(ReplayPosition::end_of(oldest.sequence));
        }
    }

    /// The newest published position.
    pub(crate) fn last_position(&self) -> Option<ReplayPosition> {
        self.newest.max(self.complete_after)
    }

    /// Everything after a position; `None` where some of it is no longer here.
    pub(crate) fn events_after(
        &self,
        after: ReplayPosition,
    ) -> Option<impl Iterator<Item = &(ReplayPosition, Arc<EventMessage>)>> {
        let first = self.events.partition_point(|(position, _)| *position <= after);
        self.complete_after.is_some_and(|floor| floor <= after).then(|| self.events.range(first..))
    }
}

#[cfg(test)]
mod tests {
    use domain::command::GenericEvent;
    use domain::event::{Alarm, AlarmLevel};
    use domain::{Event, EventClass, StrategyId, Timestamp};
    use wire::topic_families;

    use super::*;

    fn alarm(sequence: u64) -> PublishedEvent {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "story".into(), text: "text".into() };
        PublishedEvent { sequence, at: Timestamp(0), event: Event::Alarm(Arc::new(alarm)) }
    }

    fn tell(recent: &mut RecentEvents, sequence: u64) -> Option<ReplayPosition> {
        let position = recent.assign_position(&alarm(sequence));
        position.into_iter().for_each(|at| recent.push(at, &EventMessage::new(alarm(sequence), 0, Some(at))));
        position
    }

    fn behind(recent: &RecentEvents, sequence: u64) -> Option<Vec<String>> {
        let found = recent.events_after(ReplayPosition::end_of(sequence))?;
        Some(found.map(|(position, _)| position.id()).collect())
    }

    #[test]
    fn recent_events_are_found_after_a_position() {
        let mut recent = RecentEvents::default();
        assert_eq!((tell(&mut recent, 3), behind(&recent, 3)), (None, None));
        recent.start_after(4);
        assert_eq!(tell(&mut recent, 4), None);
        for sequence in [5, 5, 9] {
            assert!(tell(&mut recent, sequence).is_some());
        }
        assert_eq!(recent.last_position(), Some(ReplayPosition { sequence: 9, index: 0 }));
        assert_eq!(behind(&recent, 3), None);
        assert_eq!(behind(&recent, 4), Some(vec!["5-0".into(), "5-1".into(), "9-0".into()]));
        assert_eq!(behind(&recent, 7), Some(vec!["9-0".into()]));
        assert_eq!(behind(&recent, 99), Some(vec![]));
        recent.mark_gap();
        assert_eq!((recent.last_position(), behind(&recent, 99)), (None, None));
    }

    #[test]
    fn the_oldest_gives_way_and_takes_its_sequence_along() {
        let mut recent = RecentEvents::default();
        recent.start_after(0);
        (1..=RECENT_EVENTS_MAX as u64).for_each(|sequence| {
            tell(&mut recent, sequence);
        });
        assert_eq!(behind(&recent, 0).map(|found| found.len()), Some(RECENT_EVENTS_MAX));
        tell(&mut recent, 1_000_000);
        assert_eq!((behind(&recent, 0), behind(&recent, 1).map(|found| found.len())), (None, Some(RECENT_EVENTS_MAX)));
    }

    #[test]
    fn large_events_give_way_before_they_are_many() {
        let mut recent = RecentEvents::default();
        recent.start_after(0);
        let body = "x".repeat(RECENT_BYTES_MAX / 4);
        for sequence in 1..=8 {
            let event = GenericEvent { strategy: StrategyId(1), name: "large".into(), body: body.as_str().into() };
            let published = PublishedEvent { sequence, at: Timestamp(0), event: Event::Generic(Arc::new(event)) };
            let position = recent.assign_position(&published).unwrap();
            recent.push(position, &EventMessage::new(published, sequence, Some(position)));
        }
        assert_eq!((behind(&recent, 4), behind(&recent, 7)), (None, Some(vec!["8-0".into()])));
    }

    #[test]
    fn the_table_of_families_tells_what_history_keeps() {
        for class in EventClass::ALL {
            assert!(
                topic_families::for_class(class).is_none_or(|family| family.is_replayable == is_stored(class)),
                "{class:?}"
            );
        }
    }
}
