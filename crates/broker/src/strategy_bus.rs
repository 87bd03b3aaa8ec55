//! Topics of the strategy bus: market data and generic events for strategy processes. They are reserved: a wildcard
//! such as `/topic/>` does not select them.

use std::sync::Arc;

use stomp::lanes::Broadcast;
use stomp::topics::TopicTree;
use stomp::{Destination, Kind, Message, Pattern};
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA, shared_topic};

use crate::mailbox::Mailbox;
use crate::seats::{ConnectionId, Price, Seats};
use crate::telling::{MessageNumbers, Telling, Words};
use crate::translate::{STRATEGY_BUS, topic_of};

pub(crate) struct StrategyBus {
    topics: Vec<Destination>,
    pub(crate) tree: TopicTree<ConnectionId>,
}

impl StrategyBus {
    pub(crate) fn new() -> Self {
        let topics = [SHARED_MARKET_DATA, SHARED_GENERIC_EVENT].into_iter().filter_map(topic_of).collect();
        Self { topics, tree: TopicTree::default() }
    }

    /// Whether a subscription is to the bus, by its first segment.
    pub(crate) fn is_meant_by(pattern: &Pattern) -> bool {
        pattern.kind() == Kind::Topic && pattern.segments().next() == Some(STRATEGY_BUS)
    }

    /// The event as strategies receive it, where one of them subscribes.
    pub(crate) fn share(
        &mut self,
        telling: &Telling,
        words: &Words<'_>,
        numbers: &mut MessageNumbers,
    ) -> Option<Shared> {
        let (topic, listeners) = self.listeners(shared_topic(telling.event())?)?;
        let own = words.shared_body();
        let message = numbers.message(&topic, &words.shared_headers(), own.as_deref().unwrap_or_else(|| words.body()));
        Some(Shared { message, listeners })
    }

    /// The topic and its subscribers; `None` without subscribers, which is the usual case.
    fn listeners(&mut self, topic: &str) -> Option<(Destination, Vec<ConnectionId>)> {
        if self.tree.patterns() == 0 {
            return None;
        }
        let topic = self.topics.iter().find(|known| known.name() == topic)?;
        let listeners: Vec<_> = self.tree.listeners(topic).collect();
        (!listeners.is_empty()).then(|| (topic.clone(), listeners))
    }
}

/// A message of the bus, and its subscribers.
pub(crate) struct Shared {
    message: Arc<Message>,
    listeners: Vec<ConnectionId>,
}

impl Shared {
    pub(crate) fn size(&self) -> usize {
        self.message.octets()
    }

    /// Prices are not throttled; to a connection that falls behind, the newest of each security is sent. Returns how
    /// many received it.
    pub(crate) fn hand_out(self, seats: &mut Seats, number: u64, price: Price, from: Option<ConnectionId>) -> usize {
        let broadcast = Broadcast { message: self.message, number, own: false, apart: true };
        match price {
            Some((topic, _)) => {
                seats.hand_out(self.listeners, &broadcast, from, |mailbox, value| mailbox.unthrottled(topic, value))
            }
            None => seats.hand_out(self.listeners, &broadcast, from, Mailbox::broadcast),
        }
    }
}
