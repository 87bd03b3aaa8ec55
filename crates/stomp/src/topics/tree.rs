//! Topic tree: subscribers by pattern. Nodes are segments, leaves are sets of subscribers.
//!
//! All subscribers of one pattern form one set, so a topic is matched against patterns and not against subscribers. The
//! sets that a topic matches are cached until a pattern is added or removed; a subscriber that joins or leaves a set
//! changes nothing of that.
//!
//! A segment is stored once however many patterns have it, and the edges between nodes lie in one map: a pattern of
//! many segments takes some tens of octets for each.

use std::collections::BTreeMap;

use super::segments::{SegmentId, SegmentNames};
use crate::destination::{Destination, DestinationPattern};

/// Topics whose sets are cached; beyond them the cache is cleared.
pub const ROUTES_MAX: usize = 16_384;

/// Subscribers by pattern. `S` identifies a subscriber for the application.
#[derive(Debug)]
pub struct TopicTree<S> {
    names: SegmentNames,
    nodes: Vec<Node>,
    /// Unused nodes, to be used again.
    free_nodes: Vec<NodeId>,
    /// From a node by a segment to the next.
    edges: BTreeMap<(NodeId, SegmentId), NodeId>,
    sets: Vec<Vec<S>>,
    /// Sets without members, to be used again.
    free: Vec<SetId>,
    /// By the fingerprint of the topic; of two topics with the same one the later is cached.
    routes: BTreeMap<u64, Route>,
    /// Version of the set of patterns; a route of an older version may be wrong.
    shape: u64,
}

type SetId = u32;
type NodeId = u32;

const ROOT: NodeId = 0;

#[derive(Debug, Default, Clone)]
struct Node {
    /// Subscribers of the pattern that ends here.
    here: Option<SetId>,
    /// Subscribers of the pattern that goes on with `>` and ends.
    rest: Option<SetId>,
    /// The node of `*`.
    any: Option<NodeId>,
    /// Number of edges with a name.
    named: u32,
}

impl Node {
    fn is_unused(&self) -> bool {
        self.here.is_none() && self.rest.is_none() && self.any.is_none() && self.named == 0
    }
}

#[derive(Debug)]
struct Route {
    topic: Box<str>,
    shape: u64,
    sets: Vec<SetId>,
}

impl<S> Default for TopicTree<S> {
    fn default() -> Self {
        Self {
            names: SegmentNames::default(),
            nodes: vec![Node::default()],
            free_nodes: Vec::new(),
            edges: BTreeMap::new(),
            sets: Vec::new(),
            free: Vec::new(),
            routes: BTreeMap::new(),
            shape: 0,
        }
    }
}

impl<S: Copy + Ord> TopicTree<S> {
    /// Returns whether the subscriber is new to this pattern.
    pub fn subscribe(&mut self, pattern: &DestinationPattern, subscriber: S) -> bool {
        let (path, is_rest) = path_of(pattern);
        let node = path.iter().fold(ROOT, |node, segment| self.child_or_insert(node, segment));
        let set = self.set_at(node, is_rest).unwrap_or_else(|| self.new_set(node, is_rest));
        let members = &mut self.sets[set as usize];
        match members.binary_search(&subscriber) {
            Ok(_) => false,
            Err(at) => {
                members.insert(at, subscriber);
                true
            }
        }
    }

    /// The child node of a segment, created where it is missing.
    fn child_or_insert(&mut self, node: NodeId, segment: &str) -> NodeId {
        if let Some(next) = self.child(node, segment) {
            return next;
        }
        let next = self.new_node();
        if segment == "*" {
            self.node(node).any = Some(next);
        } else {
            let name = self.names.acquire(segment);
            self.edges.insert((node, name), next);
            self.node(node).named += 1;
        }
        next
    }

    fn child(&self, node: NodeId, segment: &str) -> Option<NodeId> {
        match segment {
            "*" => self.nodes[node as usize].any,
            _ => self.edges.get(&(node, self.names.find(segment)?)).copied(),
        }
    }

    fn new_node(&mut self) -> NodeId {
        self.free_nodes.pop().unwrap_or_else(|| {
            self.nodes.push(Node::default());
            index(self.nodes.len() - 1)
        })
    }

    fn new_set(&mut self, node: NodeId, is_rest: bool) -> SetId {
        self.shape += 1;
        let set = self.free.pop().unwrap_or_else(|| {
            self.sets.push(Vec::new());
            index(self.sets.len() - 1)
        });
        *self.set_of(node, is_rest) = Some(set);
        set
    }

    fn node(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    fn set_of(&mut self, node: NodeId, is_rest: bool) -> &mut Option<SetId> {
        let node = self.node(node);
        if is_rest { &mut node.rest } else { &mut node.here }
    }

    fn set_at(&self, node: NodeId, is_rest: bool) -> Option<SetId> {
        let node = &self.nodes[node as usize];
        if is_rest { node.rest } else { node.here }
    }

    /// Returns whether the subscriber was there.
    pub fn unsubscribe(&mut self, pattern: &DestinationPattern, subscriber: S) -> bool {
        let (path, is_rest) = path_of(pattern);
        let nodes = self.path_nodes(&path);
        let Some(set) = nodes.get(path.len()).and_then(|last| self.set_at(*last, is_rest)) else {
            return false;
        };
        let members = &mut self.sets[set as usize];
        let found = members.binary_search(&subscriber);
        if let Ok(at) = found {
            members.remove(at);
        }
        if members.is_empty() {
            *members = Vec::new();
            self.free.push(set);
            self.shape += 1;
            *self.set_of(nodes[path.len()], is_rest) = None;
            self.prune(&path, &nodes);
        }
        found.is_ok()
    }

    /// The root and the nodes of each segment, as far as they exist.
    fn path_nodes(&self, path: &[&str]) -> Vec<NodeId> {
        let mut nodes = vec![ROOT];
        for segment in path {
            match self.child(nodes[nodes.len() - 1], segment) {
                Some(next) => nodes.push(next),
                None => break,
            }
        }
        nodes
    }

    /// Removes nodes that lead to no subscriber any more, from the last one back.
    fn prune(&mut self, path: &[&str], nodes: &[NodeId]) {
        for (segment, pair) in path.iter().zip(nodes.windows(2)).rev() {
            let (before, node) = (pair[0], pair[1]);
            if !self.nodes[node as usize].is_unused() {
                return;
            }
            self.free_nodes.push(node);
            if *segment == "*" {
                self.node(before).any = None;
            } else if let Some(name) = self.names.release(segment) {
                self.edges.remove(&(before, name));
                self.node(before).named -= 1;
            }
        }
        if self.edges.is_empty() && self.nodes[ROOT as usize].any.is_none() {
            // Patterns that may never come again keep no memory.
            self.nodes.truncate(1);
            self.nodes.shrink_to_fit();
            self.free_nodes = Vec::new();
        }
    }

    /// How many patterns have subscribers.
    pub fn patterns(&self) -> usize {
        self.sets.len() - self.free.len()
    }

    /// Whether some pattern may match topics that begin with this segment: where none does, their names need not even
    /// be built.
    pub fn may_have_subscribers(&self, root: &str) -> bool {
        let node = &self.nodes[ROOT as usize];
        node.rest.is_some() || node.any.is_some() || self.child(ROOT, root).is_some()
    }

    /// All subscribers of this topic; one that subscribes by two patterns appears twice.
    pub fn subscribers(&mut self, topic: &Destination) -> impl Iterator<Item = S> {
        let fingerprint = fingerprint(topic.name());
        self.find_route(fingerprint, topic);
        let sets = self.routes.get(&fingerprint).into_iter().flat_map(|route| &route.sets);
        sets.flat_map(|set| &self.sets[*set as usize]).copied()
    }

    /// The same for a tree of few patterns, without the route cache and without allocation. A reserved topic (`apart`)
    /// is matched only by patterns that name its first segment.
    pub fn for_each_subscriber(&self, topic: &Destination, apart: bool, mut heard: impl FnMut(S)) {
        let mut found = |set: SetId| self.sets[set as usize].iter().for_each(|subscriber| heard(*subscriber));
        let mut segments = topic.segments();
        if apart {
            let next = segments.next().and_then(|first| self.child(ROOT, first));
            next.into_iter().for_each(|node| self.collect(node, segments.clone(), &mut found));
        } else {
            self.collect(ROOT, segments, &mut found);
        }
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
        self.collect(ROOT, topic.segments(), &mut |set| sets.push(set));
        self.routes.insert(fingerprint, Route { topic: topic.name().into(), shape: self.shape, sets });
    }

    fn collect<'a>(&self, id: NodeId, mut behind: impl Iterator<Item = &'a str> + Clone, found: &mut dyn FnMut(SetId)) {
        let node = &self.nodes[id as usize];
        node.rest.into_iter().for_each(&mut *found);
        let Some(segment) = behind.next() else {
            node.here.into_iter().for_each(found);
            return;
        };
        let is_named = node.named > 0;
        let named = if is_named { self.child(id, segment) } else { None };
        [node.any, named].into_iter().flatten().for_each(|next| self.collect(next, behind.clone(), found));
    }
}

fn index(place: usize) -> u32 {
    u32::try_from(place).expect("patterns are bounded far below")
}

/// FNV-1a: short, and the same in every run.
fn fingerprint(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The segments that lead to the set of a pattern, and whether it is the set of `>` after them. A `>` with text after
/// it is a name like any other; no topic has such a segment, so it matches nothing.
fn path_of(pattern: &DestinationPattern) -> (Vec<&str>, bool) {
    let mut path: Vec<&str> = pattern.segments().collect();
    let is_rest = path.pop_if(|last| *last == ">").is_some();
    (path, is_rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(name: &str) -> Destination {
        Destination::parse(&format!("/topic/{name}")).unwrap()
    }

    fn pattern(name: &str) -> DestinationPattern {
        DestinationPattern::parse(&format!("/topic/{name}")).unwrap()
    }

    fn heard(tree: &mut TopicTree<u32>, name: &str) -> Vec<u32> {
        let mut listeners: Vec<u32> = tree.subscribers(&topic(name)).collect();
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
            let heard: Vec<_> =
                ["tick", "order"].into_iter().filter(|family| tree.may_have_subscribers(family)).collect();
            assert_eq!(heard.join(" "), families);
            patterns.iter().for_each(|name| assert!(tree.unsubscribe(&pattern(name), 1)));
            assert!(!tree.may_have_subscribers("tick"));
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
    fn nothing_is_left_when_all_subscribers_have_gone() {
        let mut tree = TopicTree::default();
        let patterns = ["a.b.c", "a.*.c", "a.>", ">", "a.>.*.c", "*.*", "a"];
        patterns.iter().for_each(|name| assert!(tree.subscribe(&pattern(name), 1)));
        assert_eq!(tree.patterns(), patterns.len());
        patterns.iter().for_each(|name| assert!(tree.unsubscribe(&pattern(name), 1)));
        assert_eq!((tree.patterns(), tree.nodes.len(), tree.edges.len(), tree.names.len()), (0, 1, 0, 0));
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

    #[test]
    fn what_stands_apart_is_selected_by_its_name_alone() {
        let mut tree = TopicTree::default();
        for (subscriber, name) in (1..).zip([">", "*.1", "bus.>", "bus.1"]) {
            tree.subscribe(&pattern(name), subscriber);
        }
        let selected = |apart| {
            let mut selected: Vec<u32> = Vec::new();
            tree.for_each_subscriber(&topic("bus.1"), apart, |subscriber| selected.push(subscriber));
            selected
        };
        assert_eq!((selected(false), selected(true)), (vec![1, 2, 3, 4], vec![3, 4]));
    }

    #[test]
    fn a_segment_is_kept_once_and_a_pattern_of_many_costs_a_node_for_each() {
        let mut tree = TopicTree::default();
        for subscriber in 0..100 {
            let name = format!("s{subscriber}{}", ".a".repeat(31));
            tree.subscribe(&pattern(&name), subscriber);
        }
        assert_eq!((tree.nodes.len(), tree.edges.len(), tree.names.len()), (3_201, 3_200, 101));
    }
}
