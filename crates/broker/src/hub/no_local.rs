//! no-local: remembers which connection sent a generic event, so that its own no-local subscriptions do not receive it
//! back.

use std::collections::BTreeMap;

use domain::command::GenericEvent;

use crate::hub::connections::ConnectionId;

/// Events that were sent and have not come back. Equal events are interchangeable.
#[derive(Debug, Default)]
pub(crate) struct NoLocalEvents(BTreeMap<ConnectionId, Vec<GenericEvent>>);

impl NoLocalEvents {
    /// The connection is about to send it.
    pub(crate) fn expect(&mut self, from: ConnectionId, event: GenericEvent) {
        self.0.entry(from).or_default().push(event);
    }

    /// The event has come back: its sender, where one was recorded.
    pub(crate) fn take_sender(&mut self, event: &GenericEvent) -> Option<ConnectionId> {
        let place = |sent: &[GenericEvent]| sent.iter().position(|one| one == event);
        let (from, place) = self.0.iter().find_map(|(from, sent)| Some((*from, place(sent)?)))?;
        let sent = self.0.get_mut(&from)?;
        sent.remove(place);
        if sent.is_empty() {
            self.0.remove(&from);
        }
        Some(from)
    }

    /// Drops the events of a connection that has ended.
    pub(crate) fn remove_connection(&mut self, from: ConnectionId) {
        self.0.remove(&from);
    }
}

#[cfg(test)]
mod tests {
    use domain::StrategyId;

    use super::*;

    #[test]
    fn an_event_comes_back_once_to_its_sender() {
        let (one, other) = (ConnectionId(1), ConnectionId(2));
        let event = |name: &str| GenericEvent { strategy: StrategyId(1), name: name.into(), body: "1".into() };
        let mut no_local = NoLocalEvents::default();
        no_local.expect(one, event("a"));
        no_local.expect(other, event("a"));
        assert_eq!(no_local.take_sender(&event("b")), None);
        assert_eq!([no_local.take_sender(&event("a")), no_local.take_sender(&event("a"))], [Some(one), Some(other)]);
        no_local.expect(one, event("a"));
        no_local.remove_connection(one);
        assert_eq!(no_local.take_sender(&event("a")), None);
        assert!(no_local.0.is_empty());
    }
}
