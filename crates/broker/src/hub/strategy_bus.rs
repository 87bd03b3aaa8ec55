//! Topics of the strategy bus: market data and generic events for strategy processes. They are reserved: a wildcard
//! such as `/topic/>` does not select them.

use std::sync::Arc;

use stomp::lanes::Broadcast;
use stomp::topics::TopicTree;
use stomp::{Destination, DestinationKind, DestinationPattern, StompMessage};
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA, shared_topic};

use crate::hub::connections::{ConnectionId, Connections, MarketTopic};
use crate::hub::event_message::{Encoding, EventMessage, MessageIds};
use crate::hub::outbound_queue::OutboundQueue;
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
    pub(crate) fn selects(pattern: &DestinationPattern) -> bool {
        pattern.kind() == DestinationKind::Topic && pattern.segments().next() == Some(STRATEGY_BUS)
    }

    /// The event as strategies receive it, where one of them subscribes.
    pub(crate) fn publish(
        &mut self,
        telling: &EventMessage,
        words: &Encoding<'_>,
        numbers: &mut MessageIds,
    ) -> Option<StrategyBusMessage> {
        let (topic, listeners) = self.subscribers(shared_topic(telling.event())?)?;
        let own = words.shared_body();
        let message = numbers.message(&topic, &words.shared_headers(), own.as_deref().unwrap_or_else(|| words.body()));
        Some(StrategyBusMessage { message, subscribers: listeners })
    }

    /// The topic and its subscribers; `None` without subscribers, which is the usual case.
    fn subscribers(&mut self, topic: &str) -> Option<(Destination, Vec<ConnectionId>)> {
        if self.tree.patterns() == 0 {
            return None;
        }
        let topic = self.topics.iter().find(|known| known.name() == topic)?;
        let listeners: Vec<_> = self.tree.subscribers(topic).collect();
        (!listeners.is_empty()).then(|| (topic.clone(), listeners))
    }
}

/// A message of the bus, and its subscribers.
pub(crate) struct StrategyBusMessage {
    message: Arc<StompMessage>,
    subscribers: Vec<ConnectionId>,
}

impl StrategyBusMessage {
    pub(crate) fn size(&self) -> usize {
        self.message.octets()
    }

    /// Prices are not throttled; to a connection that falls behind, the newest of each security is sent. Returns how
    /// many received it.
    pub(crate) fn fan_out(
        self,
        connections: &mut Connections,
        number: u64,
        price: MarketTopic,
        from: Option<ConnectionId>,
    ) -> usize {
        let broadcast = Broadcast { message: self.message, number, is_own: false, is_reserved: true };
        match price {
            Some((topic, _)) => connections
                .fan_out(self.subscribers, &broadcast, from, |queue, value| queue.push_unthrottled(topic, value)),
            None => connections.fan_out(self.subscribers, &broadcast, from, OutboundQueue::push_broadcast),
        }
    }
}
