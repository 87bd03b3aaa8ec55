//! Last-value cache: the newest price and the newest state of every topic that has one.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use domain::OrderId;
use stomp::MonotonicTime;
use stomp::topics::{LastValueTable, TopicId};

use crate::cache::cache_key::{Aspect, CacheKey, DeliveryClass};
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

/// Orders sort after everything else, and none is older than this.
const OLDEST_ORDER: CacheKey = CacheKey::Order(OrderId(0), Aspect::Whole);

/// The last event of each subject. When it is full, the oldest order is evicted: its later events restore it, while
/// positions, balances and states are few and may not change again for days.
pub(crate) struct StateCache {
    last: BTreeMap<CacheKey, Arc<EventMessage>>,
    /// Number of topics of all entries.
    topics: usize,
    topics_max: usize,
    is_full_logged: bool,
}

impl StateCache {
    pub(crate) fn new(topics_max: usize) -> Self {
        Self { last: BTreeMap::new(), topics: 0, topics_max, is_full_logged: false }
    }

    pub(crate) fn update(&mut self, subject: CacheKey, message: &Arc<EventMessage>) {
        if let Some(last) = self.last.get_mut(&subject) {
            *last = message.clone();
            return;
        }
        let topics = message.roots().len();
        if self.evict_orders(topics) {
            self.topics += topics;
            self.last.insert(subject, message.clone());
        }
    }

    fn evict_orders(&mut self, topics: usize) -> bool {
        while self.topics + topics > self.topics_max {
            if !std::mem::replace(&mut self.is_full_logged, true) {
                let limit = self.topics_max;
                tracing::warn!(limit, "last-value cache is full: snapshots omit the oldest orders");
            }
            let Some((&CacheKey::Order(oldest, _), _)) = self.last.range(OLDEST_ORDER..).next() else { return false };
            Aspect::ALL.into_iter().for_each(|aspect| self.remove(&CacheKey::Order(oldest, aspect)));
        }
        true
    }

    pub(crate) fn clear(&mut self) {
        self.last.clear();
        self.topics = 0;
    }

    /// It will not change again: an order that is done.
    pub(crate) fn remove(&mut self, subject: &CacheKey) {
        if let Some(message) = self.last.remove(subject) {
            self.topics -= message.roots().len();
        }
    }

    /// From the beginning, or from after a subject on.
    pub(crate) fn iter_after(
        &self,
        subject: Option<&CacheKey>,
    ) -> impl Iterator<Item = (&CacheKey, &Arc<EventMessage>)> {
        self.last.range((subject.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded))
    }
}

#[cfg(test)]
mod tests {
    use domain::{Event, PublishedEvent, Timestamp};

    use super::*;
    use crate::limits::STATE_TOPICS_MAX;

    /// How many orders are remembered of so many, and the oldest of them.
    fn remembered(topics_max: usize, orders: u64) -> (usize, CacheKey) {
        let mut cache = StateCache::new(topics_max);
        let event = Event::Order(Arc::new(samples::order(1)));
        let message = EventMessage::new(PublishedEvent { sequence: 1, at: Timestamp(1), event }, 1, None);
        (1..=orders).for_each(|id| cache.update(CacheKey::Order(OrderId(id), Aspect::Whole), &message));
        (cache.last.len(), cache.last.keys().next().unwrap().clone())
    }

    /// Each order has one topic here.
    #[test]
    fn a_limit_above_the_default_is_used_up_before_the_oldest_orders_give_way() {
        let oldest = |id| CacheKey::Order(OrderId(id), Aspect::Whole);
        let (default, raised) = (STATE_TOPICS_MAX, 2 * STATE_TOPICS_MAX);
        let orders = raised as u64;
        assert_eq!(remembered(default, orders), (default, oldest(orders - default as u64 + 1)));
        assert_eq!(remembered(raised, orders), (raised, oldest(1)));
        assert_eq!(remembered(raised, orders + 1), (raised, oldest(2)));
    }
}
