//! Subscription matching. Most connections have a few patterns, which are matched one by one; for many a tree is built.

use crate::destination::{Destination, DestinationPattern};
use crate::session::delivery::SubscriptionKey;
use crate::topics::TopicTree;

/// Patterns that are matched one by one.
const LINEAR_PATTERNS_MAX: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Selector {
    few: Vec<(DestinationPattern, SubscriptionKey)>,
    many: Option<Box<TopicTree<SubscriptionKey>>>,
}

impl Selector {
    pub(crate) fn add(&mut self, pattern: &DestinationPattern, key: SubscriptionKey) {
        if self.many.is_none() && self.few.len() < LINEAR_PATTERNS_MAX {
            self.few.push((pattern.clone(), key));
            return;
        }
        let many = self.many.get_or_insert_default();
        for (pattern, key) in self.few.drain(..).chain([(pattern.clone(), key)]) {
            many.subscribe(&pattern, key);
        }
    }

    pub(crate) fn remove(&mut self, pattern: &DestinationPattern, key: SubscriptionKey) {
        self.few.retain(|known| (&known.0, known.1) != (pattern, key));
        if let Some(many) = &mut self.many {
            many.unsubscribe(pattern, key);
        }
        self.many.take_if(|many| many.patterns() == 0);
    }

    /// A subscription that matches by two patterns is visited twice. A reserved topic (`apart`) is matched only by
    /// patterns that name its first segment.
    pub(crate) fn for_each_subscription(
        &self,
        topic: &Destination,
        apart: bool,
        mut heard: impl FnMut(SubscriptionKey),
    ) {
        let is_named = |pattern: &DestinationPattern| !apart || pattern.segments().next() == topic.segments().next();
        let few = self.few.iter().filter(|(pattern, _)| pattern.matches(topic) && is_named(pattern));
        few.for_each(|(_, key)| heard(*key));
        self.many.iter().for_each(|many| many.for_each_subscriber(topic, apart, &mut heard));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The subscriptions that match a topic, with `others` more patterns beside the two that match it.
    fn selected(others: u32, apart: bool) -> Vec<u32> {
        let pattern = |name: &str| DestinationPattern::parse(&format!("/topic/{name}")).unwrap();
        let mut selector = Selector::default();
        selector.add(&pattern(">"), SubscriptionKey(1));
        (10..10 + others).for_each(|key| selector.add(&pattern(&format!("other.{key}")), SubscriptionKey(key)));
        selector.add(&pattern("bus.*"), SubscriptionKey(2));
        selector.add(&pattern("bus.*"), SubscriptionKey(3));
        selector.remove(&pattern("bus.*"), SubscriptionKey(3));
        let mut keys = Vec::new();
        selector.for_each_subscription(&Destination::parse("/topic/bus.1").unwrap(), apart, |key| keys.push(key.0));
        keys.sort_unstable();
        keys
    }

    #[test]
    fn few_patterns_and_many_select_alike() {
        for others in [0, 5, 6, 7, 100] {
            assert_eq!((selected(others, false), selected(others, true)), (vec![1, 2], vec![2]), "{others}");
        }
    }

    #[test]
    fn when_the_last_of_many_is_gone_no_tree_is_left() {
        let pattern = DestinationPattern::parse("/topic/a").unwrap();
        let mut selector = Selector::default();
        (0..20).for_each(|key| selector.add(&pattern, SubscriptionKey(key)));
        assert!(selector.many.is_some());
        (0..20).for_each(|key| selector.remove(&pattern, SubscriptionKey(key)));
        assert!(selector.many.is_none());
    }
}
