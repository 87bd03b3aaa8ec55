//! Hub: the topic tree, the last-value cache, the queues and all connections, behind one lock.

pub(crate) mod hub_handle;
pub(crate) mod connections;
pub(crate) mod event_message;
pub(crate) mod queue_dispatcher;
pub(crate) mod strategy_bus;
pub(crate) mod no_local;
pub(crate) mod outbound_queue;
pub(crate) mod memory_budget;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use access::AccessGrant;
use domain::command::GenericEvent;
use domain::{BarSize, Event, PublishedEvent, ReferenceData, SecurityId};
use parking_lot::{Mutex, MutexGuard};
use stomp::lanes::{Broadcast, SubscriptionDelivery};
use stomp::session::{Publication, Subscription, SubscriptionKey};
use stomp::topics::TopicTree;
use stomp::{Destination, DestinationKind, DestinationPattern, MonotonicTime, StompMessage};

use crate::cache::last_value_cache::LastValueCache;
use crate::cache::recent_events::RecentEvents;
use crate::cache::snapshot::{SnapshotStep, SnapshotValue, SubscriptionSnapshot};
use crate::cache::subscription_replay::{ReplayStep, SubscriptionReplay};
use crate::connection::close_reason::CloseReason;
use crate::hub::connections::{ConnectionEntry, ConnectionId, Connections, MarketTopic};
use crate::hub::event_message::{Encoding, EventMessage, MessageIds, ReplayPosition};
use crate::hub::memory_budget::MemoryBudget;
use crate::hub::no_local::NoLocalEvents;
use crate::hub::outbound_queue::OutboundQueue;
use crate::hub::queue_dispatcher::QueueDispatcher;
use crate::hub::strategy_bus::StrategyBus;
use crate::limits::{BrokerLimits, EVENTS_PER_LOCK};
use crate::metrics::BrokerMetrics;
use crate::translate::{headers, topic_of};

/// Topics that carry prices of a security, by its id; those of bars by the size too.
const PRICE_ROOTS: [&str; 3] = ["tick", "trade", "order-book"];
const BAR_ROOT: &str = "bar";

pub(crate) struct Hub(Mutex<HubState>);

/// State of the hub, changed under the lock.
pub(crate) struct HubState {
    /// Each connection once for a pattern, however many of its subscriptions have it.
    tree: TopicTree<ConnectionId>,
    bus: StrategyBus,
    no_local: NoLocalEvents,
    last_values: LastValueCache,
    pub(crate) queues: QueueDispatcher,
    pub(crate) connections: Connections,
    recent: RecentEvents,
    message_ids: MessageIds,
    budget: MemoryBudget,
    /// Counts changes of what is subscribed.
    pub(crate) subscription_changes: u64,
    /// Number of broadcasts.
    broadcasts: u64,
    /// Number of published events.
    published: u64,
    /// Sequence of the newest of them.
    sequence: u64,
}

/// Start of a subscription.
pub(crate) struct SubscriptionStart {
    /// It receives broadcasts with greater numbers.
    pub(crate) after_broadcast: u64,
    pub(crate) snapshots: Vec<SubscriptionSnapshot>,
}

impl Hub {
    /// A gap of `long_gap` between two prices of a topic is long; the first message has the number after
    /// `last_message`.
    pub(crate) fn new(long_gap: Duration, limits: &BrokerLimits, last_message: u64) -> Arc<Self> {
        let budget = MemoryBudget::new(limits.waiting_bytes);
        let numbers = MessageIds::after(last_message, budget.messages());
        Arc::new(Self(Mutex::new(HubState {
            tree: TopicTree::default(),
            bus: StrategyBus::new(),
            no_local: NoLocalEvents::default(),
            last_values: LastValueCache::new(long_gap, limits.state_topics),
            queues: QueueDispatcher::default(),
            connections: Connections::default(),
            recent: RecentEvents::default(),
            message_ids: numbers,
            budget,
            subscription_changes: 0,
            broadcasts: 0,
            published: 0,
            sequence: 0,
        })))
    }

    /// Publishes events of the engine in their order. The lock is released between batches.
    pub(crate) fn publish_events(
        &self,
        now: MonotonicTime,
        events: impl IntoIterator<Item = PublishedEvent>,
        reference: &ReferenceData,
    ) {
        let mut events = events.into_iter().peekable();
        while events.peek().is_some() {
            let mut state = self.lock();
            events.by_ref().take(EVENTS_PER_LOCK).for_each(|published| state.publish_event(now, published, reference));
            state.enforce_budget(now);
            MutexGuard::unlock_fair(state);
        }
    }

    /// Caches current state as events that did not happen now: they are not part of a replay, and nobody is told of them.
    pub(crate) fn load_state(&self, now: MonotonicTime, events: impl IntoIterator<Item = PublishedEvent>) {
        let mut state = self.lock();
        events.into_iter().for_each(|published| state.cache_state(now, published));
    }

    /// Every event after this sequence will be published.
    pub(crate) fn start_after(&self, sequence: u64) {
        self.lock().recent.start_after(sequence);
    }

    /// A line of the broker itself, beside the engine's events, with the sequence of the newest event.
    pub(crate) fn publish_message(&self, now: MonotonicTime, destination: &Destination, body: &[u8]) {
        let mut state = self.lock();
        let headers = headers(state.sequence);
        let message = state.message_ids.message(destination, &headers, body);
        state.fan_out(destination, message, None);
        state.enforce_budget(now);
    }

    /// Some events were lost: every connection is closed with an ERROR, and no replay joins the live feed until it is
    /// known from where on the events are complete. What was cached may have changed in the gap.
    pub(crate) fn on_events_lost(&self) {
        let mut state = self.lock();
        state.recent.mark_gap();
        state.last_values.forget_state();
        drop(state);
        self.disconnect_all(&CloseReason::EventsLost);
    }

    /// Every connection is closed with an ERROR.
    pub(crate) fn disconnect_all(&self, end: &CloseReason) {
        self.lock().connections.iter().for_each(|entry| entry.mailbox.close(end.clone()));
    }

    /// Closes connections whose pass is no longer valid.
    pub(crate) fn disconnect_revoked(&self, stands: impl Fn(&AccessGrant) -> bool) {
        let passes: Vec<_> = {
            let state = self.lock();
            state.connections.iter().filter_map(|entry| Some((entry.mailbox.clone(), entry.pass.clone()?))).collect()
        };
        let fallen = passes.into_iter().filter(|(_, pass)| !stands(pass));
        fallen.for_each(|(queue, _)| queue.close(CloseReason::CredentialsRevoked));
    }

    /// Current metrics.
    pub(crate) fn gauges(&self) -> BrokerMetrics {
        let state = self.lock();
        let mailboxes: Vec<_> = state.connections.iter().map(|entry| entry.mailbox.clone()).collect();
        let subscriptions = state.connections.iter().map(|entry| entry.subscriptions.len()).sum();
        let patterns = state.tree.patterns() + state.bus.tree.patterns();
        let queued = state.queues.bytes();
        // Publishers continue while queues are counted.
        drop(state);
        let waiting: usize = mailboxes.iter().map(|queue| queue.depth().bytes).sum();
        BrokerMetrics {
            connections: mailboxes.len(),
            subscriptions,
            patterns,
            queue_bytes: waiting + queued,
            ..BrokerMetrics::default()
        }
    }

    /// Securities that have a topic of prices with subscribers.
    pub(crate) fn wanted_prices(&self, reference: &ReferenceData) -> BTreeSet<SecurityId> {
        let mut state = self.lock();
        let roots: Vec<_> = PRICE_ROOTS.into_iter().filter(|root| state.tree.may_have_subscribers(root)).collect();
        let sizes = if state.tree.may_have_subscribers(BAR_ROOT) { &BarSize::ALL[..] } else { &[] };
        if roots.is_empty() && sizes.is_empty() {
            return BTreeSet::new();
        }
        let mut is_wanted = |security: SecurityId| {
            let of_prices = roots.iter().map(|root| format!("{root}.{security}"));
            let mut topics = of_prices.chain(sizes.iter().map(|size| format!("{BAR_ROOT}.{security}.{}", size.name())));
            topics.any(|topic| topic_of(&topic).is_some_and(|topic| state.tree.subscribers(&topic).next().is_some()))
        };
        reference.securities.keys().copied().filter(|security| is_wanted(*security)).collect()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, HubState> {
        self.0.lock()
    }
}

impl HubState {
    fn publish_event(&mut self, now: MonotonicTime, published: PublishedEvent, reference: &ReferenceData) {
        // Counted also where no topic carries it, as in history.
        let position = self.recent.assign_position(&published);
        self.publish_at(now, published, position, reference);
    }

    fn cache_state(&mut self, now: MonotonicTime, published: PublishedEvent) {
        if wire::topics::roots(&published.event).is_empty() {
            return;
        }
        self.sequence = self.sequence.max(published.sequence);
        self.published += 1;
        self.last_values.update(now, &EventMessage::new(published, self.published, None));
    }

    fn publish_at(
        &mut self,
        now: MonotonicTime,
        published: PublishedEvent,
        position: Option<ReplayPosition>,
        reference: &ReferenceData,
    ) {
        if wire::topics::roots(&published.event).is_empty() {
            return;
        }
        self.sequence = self.sequence.max(published.sequence);
        self.published += 1;
        let message = EventMessage::new(published, self.published, position);
        position.into_iter().for_each(|position| self.recent.push(position, &message));
        let words = message.encoding(reference);
        let from = match message.event() {
            Event::Generic(event) => self.no_local.take_sender(event),
            _ => None,
        };
        let price = self.last_values.update(now, &message);
        self.fan_out_event(&message, &words, price, from);
        if let Some(shared) = self.bus.publish(&message, &words, &mut self.message_ids) {
            self.broadcasts += 1;
            let size = shared.size();
            let handed = shared.fan_out(&mut self.connections, self.broadcasts, price, from);
            self.budget.on_published(size, handed);
        }
    }

    /// To all subscribers. Without subscribers nothing is encoded.
    fn fan_out_event(
        &mut self,
        telling: &EventMessage,
        words: &Encoding<'_>,
        price: MarketTopic,
        from: Option<ConnectionId>,
    ) {
        for (place, root) in telling.roots().iter().enumerate() {
            if !self.tree.may_have_subscribers(root) {
                continue;
            }
            let mut listeners = self.tree.subscribers(&words.destinations()[place]).peekable();
            if listeners.peek().is_none() {
                continue;
            }
            let message = telling.messages(words, &mut self.message_ids)[place].clone();
            self.broadcasts += 1;
            let broadcast = Broadcast { message, number: self.broadcasts, is_own: false, is_reserved: false };
            let handed = match price {
                Some((topic, pace)) => {
                    let put = |queue: &OutboundQueue, value| queue.push_price(topic, value, pace);
                    self.connections.fan_out(listeners, &broadcast, from, put)
                }
                None => self.connections.fan_out(listeners, &broadcast, from, OutboundQueue::push_broadcast),
            };
            self.budget.on_published(broadcast.message.octets(), handed);
        }
    }

    fn fan_out(&mut self, destination: &Destination, message: Arc<StompMessage>, from: Option<ConnectionId>) {
        self.broadcasts += 1;
        let broadcast = Broadcast { message, number: self.broadcasts, is_own: false, is_reserved: false };
        let listeners = self.tree.subscribers(destination);
        let handed = self.connections.fan_out(listeners, &broadcast, from, OutboundQueue::push_broadcast);
        self.budget.on_published(broadcast.message.octets(), handed);
    }

    fn enforce_budget(&mut self, now: MonotonicTime) {
        self.budget.enforce(now, &self.connections);
    }

    pub(crate) fn subscribe(
        &mut self,
        id: ConnectionId,
        subscription: Subscription,
    ) -> Result<SubscriptionStart, String> {
        self.subscription_changes += 1;
        let since = self.broadcasts;
        let snapshots = if subscription.snapshot {
            SubscriptionSnapshot::for_subscription(&subscription, self.published, since)
        } else {
            vec![]
        };
        let (consumer, prefetch) = ((id, subscription.key), subscription.prefetch);
        let patterns = subscription.patterns.clone();
        let new = self.connections.get_mut(id).map(|entry| entry.add(subscription)).unwrap_or_default();
        for pattern in &new {
            self.tree_of(pattern).subscribe(pattern, id);
        }
        for queue in patterns.iter().filter(|pattern| pattern.kind() == DestinationKind::Queue) {
            self.queues.subscribe(&self.connections, queue.name(), consumer, prefetch)?;
        }
        Ok(SubscriptionStart { after_broadcast: since, snapshots })
    }

    pub(crate) fn next_snapshot_step(
        &mut self,
        snapshot: &mut SubscriptionSnapshot,
        reference: &ReferenceData,
        found: &mut Vec<SnapshotValue>,
    ) -> bool {
        let mut step = SnapshotStep { reference, numbers: &mut self.message_ids, found };
        snapshot.next_step(&self.last_values, &mut step)
    }

    /// Continues a replay at the end of history. Once it is complete, the subscription starts under the same lock, and
    /// receives the broadcasts after `since`.
    pub(crate) fn join_live(
        &mut self,
        id: ConnectionId,
        replay: &mut SubscriptionReplay,
        reference: &ReferenceData,
        found: &mut Vec<SubscriptionDelivery>,
    ) -> (ReplayStep, Option<u64>) {
        let next = replay.catch_up(&self.recent, reference, found);
        let begun = (next == ReplayStep::Join).then(|| self.subscribe(id, replay.subscription.clone()).ok()).flatten();
        (next, begun.map(|begun| begun.after_broadcast))
    }

    pub(crate) fn last_position(&self) -> Option<ReplayPosition> {
        self.recent.last_position()
    }

    #[cfg(test)]
    pub(crate) fn told(&self) -> u64 {
        self.published
    }

    /// Whether everything behind a position is still held.
    #[cfg(test)]
    pub(crate) fn is_here_behind(&self, position: ReplayPosition) -> bool {
        self.recent.events_after(position).is_some()
    }

    pub(crate) fn message_ids(&self) -> MessageIds {
        self.message_ids.clone()
    }

    pub(crate) fn unsubscribe(&mut self, id: ConnectionId, key: SubscriptionKey) {
        let ended = self.connections.get_mut(id).and_then(|entry| entry.remove(key));
        let Some((subscription, unused)) = ended else { return };
        self.subscription_changes += 1;
        for pattern in &unused {
            self.tree_of(pattern).unsubscribe(pattern, id);
        }
        self.unsubscribe_queues(id, &subscription);
    }

    fn unsubscribe_queues(&mut self, id: ConnectionId, subscription: &Subscription) {
        for queue in subscription.patterns.iter().filter(|pattern| pattern.kind() == DestinationKind::Queue) {
            self.queues.unsubscribe(&self.connections, queue.name(), (id, subscription.key));
        }
    }

    fn tree_of(&mut self, pattern: &DestinationPattern) -> &mut TopicTree<ConnectionId> {
        if StrategyBus::selects(pattern) { &mut self.bus.tree } else { &mut self.tree }
    }

    /// Recorded only for connections with no-local subscriptions.
    pub(crate) fn expect_own_event(&mut self, id: ConnectionId, event: GenericEvent) {
        if self.connections.get(id).is_some_and(ConnectionEntry::has_no_local) {
            self.no_local.expect(id, event);
        }
    }

    pub(crate) fn send_to_topic(&mut self, now: MonotonicTime, from: ConnectionId, sent: &Publication) {
        let message = self.message_of(sent);
        self.fan_out(&sent.destination, message, Some(from));
        self.enforce_budget(now);
    }

    pub(crate) fn send_to_queue(&mut self, sent: &Publication) -> Result<(), String> {
        let message = self.message_of(sent);
        self.queues.send(&self.connections, sent.destination.name(), message, sent.body.len())
    }

    /// A client's own headers, followed by the sequence of the newest event.
    fn message_of(&mut self, sent: &Publication) -> Arc<StompMessage> {
        let mut headers = sent.headers.clone();
        headers.push("sequence", &self.sequence.to_string());
        self.message_ids.message(&sent.destination, &headers, &sent.body)
    }

    pub(crate) fn queues_and_connections(&mut self) -> (&mut QueueDispatcher, &Connections) {
        (&mut self.queues, &self.connections)
    }

    /// Removes the connection in one step.
    pub(crate) fn remove_connection(&mut self, id: ConnectionId) {
        let Some(entry) = self.connections.remove_connection(id) else { return };
        self.subscription_changes += 1;
        for pattern in entry.topics.keys() {
            self.tree_of(pattern).unsubscribe(pattern, id);
        }
        entry.subscriptions.values().for_each(|subscription| self.unsubscribe_queues(id, subscription));
        self.no_local.remove_connection(id);
    }
}

#[cfg(test)]
mod tests {
    use stomp::lanes::{OutboundLanes, RELIABLE_BYTES_MAX};
    use stomp::session::AckMode;

    use super::*;

    fn subscription(key: u32, joined: &str) -> Subscription {
        let patterns = joined.split(',').map(|text| DestinationPattern::parse(text).unwrap()).collect();
        let key = SubscriptionKey(key);
        Subscription { key, patterns, mode: AckMode::Auto, prefetch: 1, no_local: false, snapshot: false, after: None }
    }

    /// The cost of one event under the lock is counted by its deliveries.
    #[test]
    fn an_event_is_handed_once_to_each_connection_however_often_it_has_subscribed() {
        let hub = Hub::new(Duration::from_secs(10), &BrokerLimits { state_topics: 100, ..BrokerLimits::default() }, 0);
        let mailboxes: Vec<_> =
            (0..8).map(|_| OutboundQueue::new(&OutboundLanes::unthrottled(), RELIABLE_BYTES_MAX)).collect();
        let ids: Vec<_> = mailboxes.iter().map(|queue| hub.lock().connections.add_connection(queue.clone())).collect();
        for id in &ids {
            (1..=1_000).for_each(|key| drop(hub.lock().subscribe(*id, subscription(key, "/topic/>")).unwrap()));
            let overlapping = subscription(1_001, "/topic/log-event.*,/topic/log-event.>,/topic/*.warn");
            hub.lock().subscribe(*id, overlapping).unwrap();
        }
        let topic = Destination::parse("/topic/log-event.warn").unwrap();
        // Four patterns match each of them.
        assert_eq!(hub.lock().tree.subscribers(&topic).count(), 4 * 8);
        (0..10).for_each(|_| hub.publish_message(MonotonicTime(0), &topic, b"{}"));
        let waiting = |queue: &Arc<OutboundQueue>| queue.depth().messages;
        assert_eq!(mailboxes.iter().map(waiting).collect::<Vec<_>>(), [10; 8]);
        // Closing and removed connections cost nothing more.
        mailboxes[0].close(CloseReason::ServerStopping);
        hub.lock().remove_connection(ids[1]);
        hub.publish_message(MonotonicTime(0), &topic, b"{}");
        assert_eq!(mailboxes.iter().map(waiting).collect::<Vec<_>>(), [0, 10, 11, 11, 11, 11, 11, 11]);
        ids.into_iter().for_each(|id| hub.lock().remove_connection(id));
        let state = hub.lock();
        assert_eq!((state.tree.patterns(), state.connections.iter().count()), (0, 0));
    }
}
