//! Connections: their subscriptions, and the fan-out of a message to all connections that match.

use std::collections::BTreeMap;
use std::sync::Arc;

use access::AccessGrant;
use stomp::lanes::Broadcast;
use stomp::session::{Subscription, SubscriptionKey};
use stomp::topics::{TopicActivity, TopicId};
use stomp::{DestinationKind, DestinationPattern};

use crate::hub::outbound_queue::OutboundQueue;

/// A connection; ids are not reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// One subscription of one connection.
pub(crate) type Consumer = (ConnectionId, SubscriptionKey);

/// The slot and activity of a price; `None` for any other event.
pub(crate) type MarketTopic = Option<(TopicId, TopicActivity)>;

/// A connection at the hub.
pub(crate) struct ConnectionEntry {
    pub(crate) mailbox: Arc<OutboundQueue>,
    pub(crate) subscriptions: BTreeMap<SubscriptionKey, Subscription>,
    /// Its different topic patterns, with the number of subscriptions of each.
    pub(crate) topics: BTreeMap<DestinationPattern, usize>,
    /// Its credentials, as a pass.
    pub(crate) pass: Option<AccessGrant>,
    /// Its last broadcast: overlapping patterns lead to a connection more than once.
    last: u64,
}

impl ConnectionEntry {
    pub(crate) fn has_no_local(&self) -> bool {
        self.subscriptions.values().any(|subscription| subscription.no_local)
    }

    /// Returns the new patterns.
    pub(crate) fn add(&mut self, subscription: Subscription) -> Vec<DestinationPattern> {
        let topics = subscription.patterns.iter().filter(|pattern| pattern.kind() == DestinationKind::Topic);
        let mut new = Vec::new();
        for pattern in topics {
            let uses = self.topics.entry(pattern.clone()).or_default();
            *uses += 1;
            new.extend((*uses == 1).then(|| pattern.clone()));
        }
        self.subscriptions.insert(subscription.key, subscription);
        new
    }

    /// The ended subscription, and the patterns that no other has.
    pub(crate) fn remove(&mut self, key: SubscriptionKey) -> Option<(Subscription, Vec<DestinationPattern>)> {
        let ended = self.subscriptions.remove(&key)?;
        let mut unused = Vec::new();
        for pattern in ended.patterns.iter() {
            let Some(uses) = self.topics.get_mut(pattern) else { continue };
            *uses -= 1;
            if *uses == 0 {
                unused.extend(self.topics.remove_entry(pattern).map(|(pattern, _)| pattern));
            }
        }
        Some((ended, unused))
    }
}

/// All connections.
#[derive(Default)]
pub(crate) struct Connections {
    entries: BTreeMap<ConnectionId, ConnectionEntry>,
    last: u64,
}

impl Connections {
    pub(crate) fn add_connection(&mut self, queue: Arc<OutboundQueue>) -> ConnectionId {
        self.last += 1;
        let id = ConnectionId(self.last);
        let (subscriptions, topics) = (BTreeMap::new(), BTreeMap::new());
        self.entries.insert(id, ConnectionEntry { mailbox: queue, subscriptions, topics, pass: None, last: 0 });
        id
    }

    pub(crate) fn remove_connection(&mut self, id: ConnectionId) -> Option<ConnectionEntry> {
        self.entries.remove(&id)
    }

    pub(crate) fn get(&self, id: ConnectionId) -> Option<&ConnectionEntry> {
        self.entries.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut ConnectionEntry> {
        self.entries.get_mut(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ConnectionEntry> + Clone {
        self.entries.values()
    }

    pub(crate) fn subscription(&self, (connection, key): Consumer) -> Option<&Subscription> {
        self.get(connection)?.subscriptions.get(&key)
    }

    /// Queues a broadcast for every matching connection, once for each; `from` has caused it. Returns how many received
    /// it.
    pub(crate) fn fan_out(
        &mut self,
        listeners: impl IntoIterator<Item = ConnectionId>,
        broadcast: &Broadcast,
        from: Option<ConnectionId>,
        put: impl Fn(&OutboundQueue, Broadcast),
    ) -> usize {
        let mut handed = 0;
        for connection in listeners {
            let Some(entry) = self.entries.get_mut(&connection) else { continue };
            if std::mem::replace(&mut entry.last, broadcast.number) != broadcast.number {
                put(&entry.mailbox, Broadcast { is_own: from == Some(connection), ..broadcast.clone() });
                handed += 1;
            }
        }
        handed
    }
}
