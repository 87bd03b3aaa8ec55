//! Who listens to what: a tree of segments whose leaves are sets of subscribers.
//!
//! All subscribers of one pattern form one set, so a topic is matched against patterns and not against subscribers. The
//! sets that a topic matches are remembered until a pattern appears or disappears; a subscriber that joins or leaves a
//! set changes nothing of that.

use std::collections::BTreeMap;

use crate::destination::{Destination, Pattern};

/// Topics whose sets are remembered; beyond them all are forgotten and found again when they are needed.
pub const ROUTES_MAX: usize = 16_384;

/// Subscribers by pattern. `S` is the application's name for a subscriber.
#[derive(Debug)]
pub struct TopicTree<S> {
    root: Node,
    sets: Vec<Vec<S>>,
    /// Sets without members, to be used again.
    free: Vec<SetId>,
    /// By the fingerprint of the topic; of two topics with the same one the later is remembered.
    routes: BTreeMap<u64, Route>,
    /// Counts appearances and disappearances of patterns; a route of an older shape may be wrong.
    shape: u64,
}

type SetId = usize;

#[derive(Debug, Default)]
struct Node {
    /// Subscribers of the pattern that ends here.
    here: Option<SetId>,
    /// Subscribers of the pattern that goes on with `>` and ends.
    rest: Option<SetId>,
    /// What follows `*`.
    any: Option<Box<Node>>,
    named: BTreeMap<Box<str>, Node>,
}

#[derive(Debug)]
struct Route {
    topic: Box<str>,
    shape: u64,
    sets: Vec<SetId>,
}

impl<S> Default for TopicTree<S> {
    fn default() -> Self {
        Self { root: Node::default(), sets: Vec::new(), free: Vec::new(), routes: BTreeMap::new(), shape: 0 }
    }
}

impl<S: Copy + Ord> TopicTree<S> {
    /// Says whether the subscriber is new to this pattern.
    pub fn subscribe(&mut self, pattern: &Pattern, subscriber: S) -> bool {
        let place = self.root.place_of(&segments_of(pattern));
        let set = *place.get_or_insert_with(|| {
            self.shape += 1;
            self.free.pop().unwrap_or_else(|| {
                self.sets.push(Vec::new());
                self.sets.len() - 1
            })
        });
        let members = &mut self.sets[set];
        match members.binary_search(&subscriber) {
            Ok(_) => false,
            Err(at) => {
                members.insert(at, subscriber);
                true
            }
        }
    }

    /// Says whether the subscriber was there.
    pub fn unsubscribe(&mut self, pattern: &Pattern, subscriber: S) -> bool {
        let Some(set) = self.root.find(&segments_of(pattern)) else {
            return false;
        };
        let members = &mut self.sets[set];
        let found = members.binary_search(&subscriber);
        if let Ok(at) = found {
            members.remove(at);
        }
        if members.is_empty() {
            *members = Vec::new();
            self.free.push(set);
            self.root.remove(&segments_of(pattern));
            self.shape += 1;
        }
        found.is_ok()
    }

    /// How many patterns have subscribers.
    pub fn patterns(&self) -> usize {
        self.sets.len() - self.free.len()
    }

    /// Whether some pattern may select topics that begin with this segment: where none does, their names need not even be
    /// put together.
    pub fn hears(&self, root: &str) -> bool {
        self.root.rest.is_some() || self.root.any.is_some() || self.root.named.contains_key(root)
    }

    /// Everybody who listens to this topic; one who listens by two patterns appears twice.
    pub fn listeners(&mut self, topic: &Destination) -> impl Iterator<Item = S> {
        let fingerprint = fingerprint(topic.name());
        self.find_route(fingerprint, topic);
        let sets = self.routes.get(&fingerprint).into_iter().flat_map(|route| &route.sets);
        sets.flat_map(|set| &self.sets[*set]).copied()
    }

    fn find_route(&mut self, fingerprint: u64, topic: &Destination) {
        let known = self.routes.get(&fingerprint);
        if known.is_some_and(|route| route.shape == self.shape && *route.topic == *topic.name()) {
            return;
        }
        if known.is_none() && self.routes.len() >= ROUTES_MAX {
            self.routes.clear();
        }
        let mut sets = Vec::new();
        self.root.collect(&topic.segments().collect::<Vec<_>>(), &mut sets);
        self.routes.insert(fingerprint, Route { topic: topic.name().into(), shape: self.shape, sets });
    }
}

/// FNV-1a: short, and the same in every run.
fn fingerprint(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn segments_of(pattern: &Pattern) -> Vec<&str> {
    pattern.segments().collect()
}

/// In all of these, `>` with text behind it is a name like any other; no topic has such a segment, so it matches nothing.
impl Node {
    /// Where the set of a pattern is or will be.
    fn place_of(&mut self, segments: &[&str]) -> &mut Option<SetId> {
        match segments {
            [] => &mut self.here,
            [">"] => &mut self.rest,
            ["*", behind @ ..] => self.any.get_or_insert_default().place_of(behind),
            [name, behind @ ..] => self.named.entry((*name).into()).or_default().place_of(behind),
        }
    }

    fn find(&self, segments: &[&str]) -> Option<SetId> {
        match segments {
            [] => self.here,
            [">"] => self.rest,
            ["*", behind @ ..] => self.any.as_ref()?.find(behind),
            [name, behind @ ..] => self.named.get(*name)?.find(behind),
        }
    }

    fn collect(&self, segments: &[&str], sets: &mut Vec<SetId>) {
        sets.extend(self.rest);
        let Some((segment, behind)) = segments.split_first() else {
            sets.extend(self.here);
            return;
        };
        let next = [self.any.as_deref(), self.named.get(*segment)];
        next.into_iter().flatten().for_each(|node| node.collect(behind, sets));
    }

    /// Takes out the set of a pattern and the nodes that lead to nothing else.
    fn remove(&mut self, segments: &[&str]) {
        match segments {
            [] => self.here = None,
            [">"] => self.rest = None,
            ["*", behind @ ..] => {
                self.any.iter_mut().for_each(|node| node.remove(behind));
                self.any.take_if(|node| node.is_bare());
            }
            [name, behind @ ..] => {
                self.named.get_mut(*name).into_iter().for_each(|node| node.remove(behind));
                if self.named.get(*name).is_some_and(Self::is_bare) {
                    self.named.remove(*name);
                }
            }
        }
    }

    fn is_bare(&self) -> bool {
        self.here.is_none() && self.rest.is_none() && self.any.is_none() && self.named.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(name: &str) -> Destination {
        Destination::parse(&format!("/topic/{name}")).unwrap()
    }

    fn pattern(name: &str) -> Pattern {
        Pattern::parse(&format!("/topic/{name}")).unwrap()
    }

    fn heard(tree: &mut TopicTree<u32>, name: &str) -> Vec<u32> {
        let mut listeners: Vec<u32> = tree.listeners(&topic(name)).collect();
        listeners.sort_unstable();
        listeners
    }

    #[test]
    fn listeners_are_found_by_every_pattern() {
        let mut tree = TopicTree::default();
        let patterns = ["tick.12", "tick.*", "tick.>", ">", "*.12", "tick.>.12", "tick"];
        for (subscriber, name) in (1..).zip(patterns) {
            assert!(tree.subscribe(&pattern(name), subscriber));
        }
        assert_eq!(heard(&mut tree, "tick.12"), [1, 2, 3, 4, 5]);
        assert_eq!(heard(&mut tree, "tick"), [3, 4, 7]);
        assert_eq!(heard(&mut tree, "tick.12.x"), [3, 4]);
        assert_eq!(heard(&mut tree, "trade.12"), [4, 5]);
    }

    #[test]
    fn a_family_that_no_pattern_begins_with_is_not_heard() {
        for (patterns, families) in [
            (&["tick.12", "tick.>"][..], "tick"),
            (&["order.*.7", "tick"], "tick order"),
            (&["*.12"], "tick order"),
            (&[">"], "tick order"),
            (&[], ""),
        ] {
            let mut tree = TopicTree::default();
            patterns.iter().for_each(|name| assert!(tree.subscribe(&pattern(name), 1)));
            let heard: Vec<_> = ["tick", "order"].into_iter().filter(|family| tree.hears(family)).collect();
            assert_eq!(heard.join(" "), families);
            patterns.iter().for_each(|name| assert!(tree.unsubscribe(&pattern(name), 1)));
            assert!(!tree.hears("tick"));
        }
    }

    #[test]
    fn a_route_follows_every_change() {
        let mut tree = TopicTree::default();
        assert_eq!(heard(&mut tree, "tick.1"), []);
        tree.subscribe(&pattern("tick.*"), 1);
        assert_eq!(heard(&mut tree, "tick.1"), [1]);
        tree.subscribe(&pattern("tick.*"), 2);
        tree.subscribe(&pattern("tick.1"), 1);
        assert!(!tree.subscribe(&pattern("tick.1"), 1));
        assert_eq!(heard(&mut tree, "tick.1"), [1, 1, 2]);
        assert!(tree.unsubscribe(&pattern("tick.*"), 1));
        assert!(!tree.unsubscribe(&pattern("tick.*"), 1));
        assert!(!tree.unsubscribe(&pattern("nobody"), 1));
        assert_eq!(heard(&mut tree, "tick.1"), [1, 2]);
    }

    #[test]
    fn nothing_is_left_when_everybody_has_gone() {
        let mut tree = TopicTree::default();
        let patterns = ["a.b.c", "a.*.c", "a.>", ">", "a.>.*.c", "*.*", "a"];
        patterns.iter().for_each(|name| assert!(tree.subscribe(&pattern(name), 1)));
        assert_eq!(tree.patterns(), patterns.len());
        patterns.iter().for_each(|name| assert!(tree.unsubscribe(&pattern(name), 1)));
        assert!(tree.root.is_bare());
        assert_eq!(tree.patterns(), 0);
    }

    #[test]
    fn remembered_routes_are_bounded() {
        let mut tree = TopicTree::default();
        tree.subscribe(&pattern("order.>"), 1);
        for order in 0..=ROUTES_MAX {
            assert_eq!(heard(&mut tree, &format!("order.{order}")), [1]);
        }
        assert_eq!(tree.routes.len(), 1);
    }
}
