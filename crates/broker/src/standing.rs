//! What stands: the last word about everything that is neither a price nor passing.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use domain::OrderId;

use crate::subject::{Aspect, Subject};
use crate::telling::Telling;

/// Orders stand behind everything else, and none is older than this.
const OLDEST_ORDER: Subject = Subject::Order(OrderId(0), Aspect::Whole);

/// The last event about each subject. Where there is no room for another, the oldest order gives way: its later events
/// bring it back, while positions, balances and states are few and may not be heard of again for days.
pub(crate) struct Standing {
    last: BTreeMap<Subject, Arc<Telling>>,
    /// Names of topics under which all of it is told.
    topics: usize,
    topics_max: usize,
    is_full_told: bool,
}

impl Standing {
    pub(crate) fn new(topics_max: usize) -> Self {
        Self { last: BTreeMap::new(), topics: 0, topics_max, is_full_told: false }
    }

    pub(crate) fn record(&mut self, subject: Subject, telling: &Arc<Telling>) {
        if let Some(last) = self.last.get_mut(&subject) {
            *last = telling.clone();
            return;
        }
        let topics = telling.roots().len();
        if self.make_room(topics) {
            self.topics += topics;
            self.last.insert(subject, telling.clone());
        }
    }

    fn make_room(&mut self, topics: usize) -> bool {
        while self.topics + topics > self.topics_max {
            if !std::mem::replace(&mut self.is_full_told, true) {
                let limit = self.topics_max;
                tracing::warn!("snapshots leave out the oldest orders: more than {limit} topics have a last value");
            }
            let Some((&Subject::Order(oldest, _), _)) = self.last.range(OLDEST_ORDER..).next() else { return false };
            Aspect::ALL.into_iter().for_each(|aspect| self.forget(&Subject::Order(oldest, aspect)));
        }
        true
    }

    /// It will not be heard of again: an order that is done.
    pub(crate) fn forget(&mut self, subject: &Subject) {
        if let Some(telling) = self.last.remove(subject) {
            self.topics -= telling.roots().len();
        }
    }

    /// From the beginning, or from behind a subject on.
    pub(crate) fn behind(&self, subject: Option<&Subject>) -> impl Iterator<Item = (&Subject, &Arc<Telling>)> {
        self.last.range((subject.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded))
    }
}
