//! Publish queue: what publishers pushed and the connection has not processed. A push takes constant time, whatever the
//! connection has subscribed to.

use std::collections::{BTreeMap, VecDeque};

use super::reliable_item::{Broadcast, ReliableItem, SubscriptionDelivery};
use crate::topics::{TopicActivity, TopicId};

/// Prices that are queued in full for one connection; beyond this, only the newest of each topic is kept.
pub const PRICES_QUEUED_MAX: usize = 1_024;

/// Capacity for prices that is kept when the queue is drained.
const PRICES_KEPT: usize = 16;

/// A price on its way to a connection.
#[derive(Debug)]
pub(crate) struct PriceUpdate {
    pub(crate) topic: TopicId,
    pub(crate) value: Broadcast,
    pub(crate) pace: TopicActivity,
    /// Number of older prices that it replaced.
    pub(crate) conflated: u64,
}

/// Publish queue of one connection.
#[derive(Debug, Default)]
pub struct PublishQueue {
    reliable: VecDeque<ReliableItem>,
    bytes: usize,
    prices: Vec<PriceUpdate>,
    /// Prices that arrived when the queue was full.
    newest: BTreeMap<TopicId, PriceUpdate>,
}

impl PublishQueue {
    /// A message that must not be lost, for all matching subscriptions.
    pub fn push_broadcast(&mut self, broadcast: Broadcast) {
        self.push(ReliableItem::Broadcast(broadcast));
    }

    /// A message that must not be lost, for one subscription.
    pub fn push_delivery(&mut self, delivery: SubscriptionDelivery) {
        self.push(ReliableItem::Direct(delivery.into()));
    }

    fn push(&mut self, arrival: ReliableItem) {
        self.bytes += arrival.size();
        self.reliable.push_back(arrival);
    }

    /// A message of which only the newest value of the topic counts, for all matching subscriptions.
    pub fn push_price(&mut self, topic: TopicId, value: Broadcast, pace: TopicActivity) {
        let price = PriceUpdate { topic, value, pace, conflated: 0 };
        if self.prices.len() < PRICES_QUEUED_MAX && self.newest.is_empty() {
            self.prices.push(price);
            return;
        }
        if let Some(older) = self.newest.insert(topic, price)
            && let Some(newer) = self.newest.get_mut(&topic)
        {
            newer.conflated = older.conflated + 1;
            newer.pace = if older.pace == TopicActivity::Slow { TopicActivity::Slow } else { newer.pace };
        }
    }

    /// Prices in the order in which they are sent. A little capacity is kept.
    pub(super) fn drain_prices(&mut self, mut take: impl FnMut(PriceUpdate)) {
        self.prices.drain(..).for_each(&mut take);
        self.prices.shrink_to(PRICES_KEPT);
        std::mem::take(&mut self.newest).into_values().for_each(take);
    }

    /// Reliable messages in their order, and their octets. The caller leaves an empty queue in place, which may have
    /// capacity.
    pub(super) fn drain_reliable(&mut self) -> (&mut VecDeque<ReliableItem>, usize) {
        (&mut self.reliable, std::mem::take(&mut self.bytes))
    }

    /// Octets of reliable messages.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Messages in the queue.
    pub fn len(&self) -> usize {
        self.reliable.len() + self.prices.len() + self.newest.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::destination::Destination;
    use crate::headers::Headers;
    use crate::message::StompMessage;

    fn price(number: u64) -> Broadcast {
        let topic = Destination::parse("/topic/tick.1").unwrap();
        let message = Arc::new(StompMessage::new(number, &topic, &Headers::default(), b""));
        Broadcast { message, number, is_own: false, is_reserved: false }
    }

    #[test]
    fn of_unread_prices_the_newest_of_each_topic_is_kept() {
        let mut incoming = PublishQueue::default();
        let full = PRICES_QUEUED_MAX as u64;
        (1..=full).for_each(|number| incoming.push_price(TopicId(1), price(number), TopicActivity::Busy));
        incoming.push_price(TopicId(2), price(full + 1), TopicActivity::Slow);
        (full + 2..full + 5).for_each(|number| incoming.push_price(TopicId(2), price(number), TopicActivity::Busy));
        incoming.push_price(TopicId(1), price(full + 5), TopicActivity::Busy);
        assert_eq!(incoming.len(), PRICES_QUEUED_MAX + 2);
        let mut taken = Vec::new();
        incoming.drain_prices(|price| taken.push(price));
        let last = &taken[PRICES_QUEUED_MAX..];
        let shown = |price: &PriceUpdate| (price.topic.0, price.value.number - full, price.pace, price.conflated);
        assert_eq!(
            last.iter().map(shown).collect::<Vec<_>>(),
            [(1, 5, TopicActivity::Busy, 0), (2, 4, TopicActivity::Slow, 3)]
        );
        assert!(incoming.is_empty());
    }
}
