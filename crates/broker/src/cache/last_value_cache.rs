//! Last-value cache: the newest price and the newest state of every topic that has one.

use std::sync::Arc;
use std::time::Duration;

use stomp::MonotonicTime;
use stomp::topics::{LastValueTable, TopicId};

use crate::cache::cache_key::{CacheKey, DeliveryClass};
use crate::cache::state_cache::StateCache;
use crate::hub::connections::MarketTopic;
use crate::hub::event_message::EventMessage;
use crate::limits::MARKET_TOPICS_MAX;

pub(crate) struct LastValueCache {
    /// Prices, with their activity.
    market: LastValueTable<CacheKey, Arc<EventMessage>>,
    /// All other last values.
    state: StateCache,
}

impl LastValueCache {
    /// A gap of `long_gap` between two prices of a topic is long; `state_topics` limits the other last values.
    pub(crate) fn new(long_gap: Duration, state_topics: usize) -> Self {
        Self { market: LastValueTable::new(MARKET_TOPICS_MAX, long_gap), state: StateCache::new(state_topics) }
    }

    /// Returns the slot and the activity of a price.
    pub(crate) fn update(&mut self, now: MonotonicTime, message: &Arc<EventMessage>) -> MarketTopic {
        match DeliveryClass::of(message.event()) {
            // Beyond the limit of price topics, further ones are not conflated.
            DeliveryClass::Market(subject) => return self.market.update(now, subject, message.clone()).ok(),
            DeliveryClass::State(subject) => self.state.update(subject, message),
            DeliveryClass::FinalState(subject) => self.state.remove(&subject),
            DeliveryClass::Transient => {}
        }
        None
    }

    /// Everything but prices, which are replaced by the next ones.
    pub(crate) fn forget_state(&mut self) {
        self.state.clear();
    }

    /// From the beginning, or from after a subject on; a price with its slot.
    pub(crate) fn iter_after(
        &self,
        subject: Option<&CacheKey>,
    ) -> impl Iterator<Item = (&CacheKey, Option<TopicId>, &EventMessage)> {
        let prices = self.market.iter_after(subject).map(|(subject, topic)| (subject, Some(topic.id), &*topic.last));
        prices.chain(self.state.iter_after(subject).map(|(subject, message)| (subject, None, &**message)))
    }
}
