//! The topics that strategies in processes of their own share: every price on one, every generic event on the other. They
//! stand apart from all others, so that `/topic/>` does not say everything twice and only those hear them who may.

use std::sync::Arc;

use stomp::lanes::SlotKey;
use stomp::topics::{TopicId, TopicTree};
use stomp::{Destination, Kind, Message, Pattern, Time};
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA, shared_topic};

use crate::seats::{ConnectionId, Consumer, Price, Seats};
use crate::telling::{MessageNumbers, Telling, Words};
use crate::translate::{STRATEGY_BUS, topic_of};

pub(crate) struct StrategyBus {
    topics: Vec<Destination>,
    pub(crate) tree: TopicTree<Consumer>,
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

    /// The event as strategies read it, where one of them listens.
    pub(crate) fn share(
        &mut self,
        telling: &Telling,
        words: &Words<'_>,
        numbers: &mut MessageNumbers,
    ) -> Option<Shared> {
        let (topic, listeners) = self.listeners(shared_topic(telling.event())?)?;
        let own = words.shared_body();
        let message = numbers.message(&topic, &words.headers(), own.as_deref().unwrap_or_else(|| words.body()));
        Some(Shared { message, listeners })
    }

    /// The topic and who listens; nothing where nobody does, which is the usual case.
    fn listeners(&mut self, topic: &str) -> Option<(Destination, Vec<Consumer>)> {
        if self.tree.patterns() == 0 {
            return None;
        }
        let topic = self.topics.iter().find(|known| known.name() == topic)?;
        let listeners: Vec<_> = self.tree.listeners(topic).collect();
        (!listeners.is_empty()).then(|| (topic.clone(), listeners))
    }
}

/// A message of the bus, and to whom it goes.
pub(crate) struct Shared {
    message: Arc<Message>,
    listeners: Vec<Consumer>,
}

impl Shared {
    /// No rate holds a price back; to one that falls behind, the newest of each security goes.
    pub(crate) fn hand_out(self, seats: &Seats, now: Time, price: Price, from: Option<ConnectionId>) {
        match price {
            Some((topic, _)) => self.hand_out_price(seats, now, topic),
            None => seats.hand_out(self.listeners, now, &self.message, from),
        }
    }

    fn hand_out_price(self, seats: &Seats, now: Time, topic: TopicId) {
        for (connection, subscription) in self.listeners {
            if let Some(seat) = seats.get(connection) {
                seat.mailbox.unthrottled(now, SlotKey { subscription, topic }, &self.message);
            }
        }
    }
}
