//! Hub: the topic tree, the last-value cache, the queues and all connections, behind one lock.

use std::sync::Arc;
use std::time::Duration;

use access::Pass;
use domain::command::GenericEvent;
use domain::{Event, Published, ReferenceData};
use parking_lot::{Mutex, MutexGuard};
use stomp::lanes::{Broadcast, Delivery};
use stomp::session::{Publication, Subscription, SubscriptionKey};
use stomp::topics::TopicTree;
use stomp::{Destination, Kind, Message, Pattern, Time};

use crate::budget::Budget;
use crate::echoes::Echoes;
use crate::ending::End;
use crate::last_values::LastValues;
use crate::limits::{EVENTS_PER_LOCK, Limits};
use crate::mailbox::Mailbox;
use crate::numbers::Numbers;
use crate::queues::FedQueues;
use crate::recent::{Position, Recent};
use crate::replay::{Next, Replay};
use crate::seats::{ConnectionId, Price, Seat, Seats};
use crate::snapshot::{Found, Snapshot, Step};
use crate::strategy_bus::StrategyBus;
use crate::telling::{MessageNumbers, Telling, Words};
use crate::translate::headers;

pub(crate) struct Hub(Mutex<State>);

/// State of the hub, changed under the lock.
pub(crate) struct State {
    /// Each connection once for a pattern, however many of its subscriptions have it.
    tree: TopicTree<ConnectionId>,
    bus: StrategyBus,
    echoes: Echoes,
    last_values: LastValues,
    pub(crate) queues: FedQueues,
    pub(crate) seats: Seats,
    recent: Recent,
    numbers: MessageNumbers,
    budget: Budget,
    /// Number of broadcasts.
    broadcasts: u64,
    /// Number of published events.
    told: u64,
    /// Sequence of the newest of them.
    sequence: u64,
}

/// Start of a subscription.
pub(crate) struct Begun {
    /// It receives broadcasts with greater numbers.
    pub(crate) since: u64,
    pub(crate) snapshots: Vec<Snapshot>,
}

impl Hub {
    /// A gap of `long_gap` between two prices of a topic is long; the first message has the number after
    /// `last_message`.
    pub(crate) fn new(long_gap: Duration, limits: &Limits, last_message: u64) -> Arc<Self> {
        let budget = Budget::new(limits.waiting_bytes);
        let numbers = MessageNumbers::behind(last_message, budget.messages());
        Arc::new(Self(Mutex::new(State {
            tree: TopicTree::default(),
            bus: StrategyBus::new(),
            echoes: Echoes::default(),
            last_values: LastValues::new(long_gap, limits.state_topics),
            queues: FedQueues::default(),
            seats: Seats::default(),
            recent: Recent::default(),
            numbers,
            budget,
            broadcasts: 0,
            told: 0,
            sequence: 0,
        })))
    }

    /// Publishes events of the engine in their order. The lock is released between batches.
    pub(crate) fn tell(&self, now: Time, events: impl IntoIterator<Item = Published>, reference: &ReferenceData) {
        let mut events = events.into_iter().peekable();
        while events.peek().is_some() {
            let mut state = self.lock();
            events.by_ref().take(EVENTS_PER_LOCK).for_each(|published| state.tell(now, published, reference));
            state.keep_to_budget(now);
            MutexGuard::unlock_fair(state);
        }
    }

    /// Caches current state as events that did not happen now: they are not part of a replay.
    pub(crate) fn remember(&self, now: Time, events: impl IntoIterator<Item = Published>, reference: &ReferenceData) {
        let mut state = self.lock();
        events.into_iter().for_each(|published| state.tell_at(now, published, None, reference));
    }

    /// Every event after this sequence will be published.
    pub(crate) fn begin_behind(&self, sequence: u64) {
        self.lock().recent.begin(sequence);
    }

    /// A line of the broker itself, beside the engine's events, with the sequence of the newest event.
    pub(crate) fn announce(&self, now: Time, destination: &Destination, body: &[u8]) {
        let mut state = self.lock();
        let headers = headers(state.sequence);
        let message = state.numbers.message(destination, &headers, body);
        state.hand_out(destination, message, None);
        state.keep_to_budget(now);
    }

    /// Some events were lost: every connection is closed with an ERROR, and no replay joins the live feed until it is
    /// known from where on the events are complete.
    pub(crate) fn lose_events(&self) {
        self.lock().recent.lose();
        self.end_all(&End::EventsLost);
    }

    /// Every connection is closed with an ERROR.
    pub(crate) fn end_all(&self, end: &End) {
        self.lock().seats.iter().for_each(|seat| seat.mailbox.end(end.clone()));
    }

    /// Closes connections whose pass is no longer valid.
    pub(crate) fn show_out(&self, stands: impl Fn(&Pass) -> bool) {
        let passes: Vec<_> = {
            let state = self.lock();
            state.seats.iter().filter_map(|seat| Some((seat.mailbox.clone(), seat.pass.clone()?))).collect()
        };
        let fallen = passes.into_iter().filter(|(_, pass)| !stands(pass));
        fallen.for_each(|(mailbox, _)| mailbox.end(End::NotAdmitted));
    }

    /// Current metrics.
    pub(crate) fn count(&self) -> Numbers {
        let state = self.lock();
        let mailboxes: Vec<_> = state.seats.iter().map(|seat| seat.mailbox.clone()).collect();
        let subscriptions = state.seats.iter().map(|seat| seat.subscriptions.len()).sum();
        let patterns = state.tree.patterns() + state.bus.tree.patterns();
        let queued = state.queues.bytes();
        // Publishers continue while queues are counted.
        drop(state);
        let waiting: usize = mailboxes.iter().map(|mailbox| mailbox.waiting().bytes).sum();
        Numbers {
            connections: mailboxes.len(),
            subscriptions,
            patterns,
            queue_bytes: waiting + queued,
            ..Numbers::default()
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl State {
    fn tell(&mut self, now: Time, published: Published, reference: &ReferenceData) {
        // Counted also where no topic carries it, as in history.
        let position = self.recent.count(&published);
        self.tell_at(now, published, position, reference);
    }

    fn tell_at(&mut self, now: Time, published: Published, position: Option<Position>, reference: &ReferenceData) {
        if wire::topics::roots(&published.event).is_empty() {
            return;
        }
        self.sequence = self.sequence.max(published.sequence);
        self.told += 1;
        let telling = Telling::new(published, self.told, position);
        position.into_iter().for_each(|position| self.recent.add(position, &telling));
        let words = telling.words(reference);
        let from = match telling.event() {
            Event::Generic(event) => self.echoes.claim(event),
            _ => None,
        };
        let price = self.last_values.remember(now, &telling);
        self.publish(&telling, &words, price, from);
        if let Some(shared) = self.bus.share(&telling, &words, &mut self.numbers) {
            self.broadcasts += 1;
            let size = shared.size();
            let handed = shared.hand_out(&mut self.seats, self.broadcasts, price, from);
            self.budget.handed_out(size, handed);
        }
    }

    /// To all subscribers. Without subscribers nothing is encoded.
    fn publish(&mut self, telling: &Telling, words: &Words<'_>, price: Price, from: Option<ConnectionId>) {
        for (place, root) in telling.roots().iter().enumerate() {
            if !self.tree.hears(root) {
                continue;
            }
            let mut listeners = self.tree.listeners(&words.destinations()[place]).peekable();
            if listeners.peek().is_none() {
                continue;
            }
            let message = telling.messages(words, &mut self.numbers)[place].clone();
            self.broadcasts += 1;
            let broadcast = Broadcast { message, number: self.broadcasts, own: false, apart: false };
            let handed = match price {
                Some((topic, pace)) => {
                    let put = |mailbox: &Mailbox, value| mailbox.price(topic, value, pace);
                    self.seats.hand_out(listeners, &broadcast, from, put)
                }
                None => self.seats.hand_out(listeners, &broadcast, from, Mailbox::broadcast),
            };
            self.budget.handed_out(broadcast.message.octets(), handed);
        }
    }

    fn hand_out(&mut self, destination: &Destination, message: Arc<Message>, from: Option<ConnectionId>) {
        self.broadcasts += 1;
        let broadcast = Broadcast { message, number: self.broadcasts, own: false, apart: false };
        let listeners = self.tree.listeners(destination);
        let handed = self.seats.hand_out(listeners, &broadcast, from, Mailbox::broadcast);
        self.budget.handed_out(broadcast.message.octets(), handed);
    }

    fn keep_to_budget(&mut self, now: Time) {
        self.budget.keep(now, &self.seats);
    }

    pub(crate) fn subscribe(&mut self, id: ConnectionId, subscription: Subscription) -> Result<Begun, String> {
        let since = self.broadcasts;
        let snapshots = if subscription.snapshot { Snapshot::begin(&subscription, self.told, since) } else { vec![] };
        let (consumer, prefetch) = ((id, subscription.key), subscription.prefetch);
        let patterns = subscription.patterns.clone();
        let new = self.seats.get_mut(id).map(|seat| seat.add(subscription)).unwrap_or_default();
        for pattern in &new {
            self.tree_of(pattern).subscribe(pattern, id);
        }
        for queue in patterns.iter().filter(|pattern| pattern.kind() == Kind::Queue) {
            self.queues.join(&self.seats, queue.name(), consumer, prefetch)?;
        }
        Ok(Begun { since, snapshots })
    }

    pub(crate) fn go_on(&mut self, snapshot: &mut Snapshot, reference: &ReferenceData, found: &mut Vec<Found>) -> bool {
        let mut step = Step { reference, numbers: &mut self.numbers, found };
        snapshot.go_on(&self.last_values, &mut step)
    }

    /// Continues a replay at the end of history. Once it is complete, the subscription starts under the same lock, and
    /// receives the broadcasts after `since`.
    pub(crate) fn join(
        &mut self,
        id: ConnectionId,
        replay: &mut Replay,
        reference: &ReferenceData,
        found: &mut Vec<Delivery>,
    ) -> (Next, Option<u64>) {
        let next = replay.catch_up(&self.recent, reference, found);
        let begun = (next == Next::Join).then(|| self.subscribe(id, replay.subscription.clone()).ok()).flatten();
        (next, begun.map(|begun| begun.since))
    }

    pub(crate) fn reached(&self) -> Option<Position> {
        self.recent.reached()
    }

    #[cfg(test)]
    pub(crate) fn told(&self) -> u64 {
        self.told
    }

    /// Whether everything behind a position is still held.
    #[cfg(test)]
    pub(crate) fn is_here_behind(&self, position: Position) -> bool {
        self.recent.behind(position).is_some()
    }

    pub(crate) fn message_numbers(&self) -> MessageNumbers {
        self.numbers.clone()
    }

    pub(crate) fn unsubscribe(&mut self, id: ConnectionId, key: SubscriptionKey) {
        let ended = self.seats.get_mut(id).and_then(|seat| seat.remove(key));
        let Some((subscription, unused)) = ended else { return };
        for pattern in &unused {
            self.tree_of(pattern).unsubscribe(pattern, id);
        }
        self.leave_queues(id, &subscription);
    }

    fn leave_queues(&mut self, id: ConnectionId, subscription: &Subscription) {
        for queue in subscription.patterns.iter().filter(|pattern| pattern.kind() == Kind::Queue) {
            self.queues.leave(&self.seats, queue.name(), (id, subscription.key));
        }
    }

    fn tree_of(&mut self, pattern: &Pattern) -> &mut TopicTree<ConnectionId> {
        if StrategyBus::is_meant_by(pattern) { &mut self.bus.tree } else { &mut self.tree }
    }

    /// Recorded only for connections with no-local subscriptions.
    pub(crate) fn expect(&mut self, id: ConnectionId, event: GenericEvent) {
        if self.seats.get(id).is_some_and(Seat::does_not_want_its_own) {
            self.echoes.expect(id, event);
        }
    }

    pub(crate) fn send_to_topic(&mut self, now: Time, from: ConnectionId, sent: &Publication) {
        let message = self.message_of(sent);
        self.hand_out(&sent.destination, message, Some(from));
        self.keep_to_budget(now);
    }

    pub(crate) fn send_to_queue(&mut self, sent: &Publication) -> Result<(), String> {
        let message = self.message_of(sent);
        self.queues.send(&self.seats, sent.destination.name(), message, sent.body.len())
    }

    /// A client's own headers, followed by the sequence of the newest event.
    fn message_of(&mut self, sent: &Publication) -> Arc<Message> {
        let mut headers = sent.headers.clone();
        headers.push("sequence", &self.sequence.to_string());
        self.numbers.message(&sent.destination, &headers, &sent.body)
    }

    pub(crate) fn queues_and_seats(&mut self) -> (&mut FedQueues, &Seats) {
        (&mut self.queues, &self.seats)
    }

    /// Removes the connection in one step.
    pub(crate) fn leave(&mut self, id: ConnectionId) {
        let Some(seat) = self.seats.leave(id) else { return };
        for pattern in seat.topics.keys() {
            self.tree_of(pattern).unsubscribe(pattern, id);
        }
        seat.subscriptions.values().for_each(|subscription| self.leave_queues(id, subscription));
        self.echoes.leave(id);
    }
}

#[cfg(test)]
mod tests {
    use stomp::lanes::{Lanes, RELIABLE_BYTES_MAX};
    use stomp::session::AckMode;

    use super::*;

    fn subscription(key: u32, joined: &str) -> Subscription {
        let patterns = joined.split(',').map(|text| Pattern::parse(text).unwrap()).collect();
        let key = SubscriptionKey(key);
        Subscription { key, patterns, mode: AckMode::Auto, prefetch: 1, no_local: false, snapshot: false, after: None }
    }

    /// The cost of one event under the lock is counted by its deliveries.
    #[test]
    fn an_event_is_handed_once_to_each_connection_however_often_it_has_subscribed() {
        let hub = Hub::new(Duration::from_secs(10), &Limits { state_topics: 100, ..Limits::default() }, 0);
        let mailboxes: Vec<_> = (0..8).map(|_| Mailbox::new(&Lanes::free(), RELIABLE_BYTES_MAX)).collect();
        let ids: Vec<_> = mailboxes.iter().map(|mailbox| hub.lock().seats.take(mailbox.clone())).collect();
        for id in &ids {
            (1..=1_000).for_each(|key| drop(hub.lock().subscribe(*id, subscription(key, "/topic/>")).unwrap()));
            let overlapping = subscription(1_001, "/topic/log-event.*,/topic/log-event.>,/topic/*.warn");
            hub.lock().subscribe(*id, overlapping).unwrap();
        }
        let topic = Destination::parse("/topic/log-event.warn").unwrap();
        // Four patterns match each of them.
        assert_eq!(hub.lock().tree.listeners(&topic).count(), 4 * 8);
        (0..10).for_each(|_| hub.announce(Time(0), &topic, b"{}"));
        let waiting = |mailbox: &Arc<Mailbox>| mailbox.waiting().messages;
        assert_eq!(mailboxes.iter().map(waiting).collect::<Vec<_>>(), [10; 8]);
        // Closing and removed connections cost nothing more.
        mailboxes[0].end(End::ServerStops);
        hub.lock().leave(ids[1]);
        hub.announce(Time(0), &topic, b"{}");
        assert_eq!(mailboxes.iter().map(waiting).collect::<Vec<_>>(), [0, 10, 11, 11, 11, 11, 11, 11]);
        ids.into_iter().for_each(|id| hub.lock().leave(id));
        let state = hub.lock();
        assert_eq!((state.tree.patterns(), state.seats.iter().count()), (0, 0));
    }
}
