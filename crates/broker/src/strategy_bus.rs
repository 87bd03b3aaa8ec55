//! The topics that strategies in processes of their own share: every price on one, every generic event on the other. They
//! stand apart from all others, so that `/topic/>` does not say everything twice and only those hear them who may.

use stomp::lanes::SlotKey;
use stomp::topics::TopicTree;
use stomp::{Destination, Kind, Pattern, Time};
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA, shared_topic};

use crate::hub::{ConnectionId, Consumer, Price, State, hand_out};
use crate::telling::{Telling, Words};
use crate::translate::topic_of;

/// The first segment of the bus's topics and queues.
pub(crate) const STRATEGY_BUS: &str = "strategy-bus";

pub(super) struct StrategyBus {
    topics: Vec<Destination>,
    pub(super) tree: TopicTree<Consumer>,
}

impl StrategyBus {
    pub(super) fn new() -> Self {
        let topics = [SHARED_MARKET_DATA, SHARED_GENERIC_EVENT].into_iter().filter_map(topic_of).collect();
        Self { topics, tree: TopicTree::default() }
    }

    /// Whether a subscription is to the bus, by its first segment.
    pub(super) fn is_meant_by(pattern: &Pattern) -> bool {
        pattern.kind() == Kind::Topic && pattern.segments().next() == Some(STRATEGY_BUS)
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

impl State {
    /// The event for strategies. No rate holds a price back; to one that falls behind, the newest of each security goes.
    pub(super) fn share(
        &mut self,
        now: Time,
        telling: &Telling,
        words: &Words<'_>,
        price: Price,
        from: Option<ConnectionId>,
    ) {
        let Some(shared) = shared_topic(telling.event()) else { return };
        let Some((topic, listeners)) = self.bus.listeners(shared) else { return };
        let own = words.shared_body();
        let message = self.numbers.message(&topic, &words.headers(), own.as_deref().unwrap_or_else(|| words.body()));
        let Some((own, _)) = price else {
            return hand_out(&self.seats, listeners, now, &message, from);
        };
        for (connection, subscription) in listeners {
            if let Some(seat) = self.seats.get(&connection) {
                seat.mailbox.unthrottled(now, SlotKey { subscription, topic: own }, &message);
            }
        }
    }
}
