//! State cache: the newest value of every topic that is neither a price nor transient. When it is full, the oldest
//! order is evicted.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use domain::OrderId;

use crate::cache::cache_key::{Aspect, CacheKey};
use crate::hub::event_message::EventMessage;

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
