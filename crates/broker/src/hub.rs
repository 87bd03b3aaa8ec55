//! Where publishers and connections meet: who listens to what, what was said last, who is there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use access::Pass;
use domain::command::GenericEvent;
use stomp::lanes::{Delivery, SlotKey};
use stomp::queues::Queues;
use stomp::session::{Marks, Publication, Subscription, SubscriptionKey};
use stomp::topics::{Book, TooManyTopics, TopicTree};
use stomp::{Destination, Headers, Kind, Message, Pattern, Time};

use crate::echoes::Echoes;
use crate::ending::End;
use crate::limits::{MARKET_TOPICS_MAX, SNAPSHOT_STEP_BYTES, STATE_TOPICS_MAX};
use crate::mailbox::Mailbox;
use crate::numbers::Numbers;
use crate::strategy_bus::StrategyBus;
use crate::translate::{Family, Told, headers};

/// A connection, never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// One subscription of one connection.
pub(crate) type Consumer = (ConnectionId, SubscriptionKey);

pub(crate) struct Hub(Mutex<State>);

pub(super) struct State {
    tree: TopicTree<Consumer>,
    pub(super) bus: StrategyBus,
    echoes: Echoes,
    /// Last values of prices, with their pace.
    pub(super) market: Book,
    /// Last values of everything else that is remembered.
    state: Book,
    pub(super) queues: Queues<Consumer>,
    pub(super) seats: BTreeMap<ConnectionId, Seat>,
    next_connection: u64,
    next_message: u64,
    /// Of the newest event that was published.
    sequence: u64,
    is_full_told: bool,
}

/// What the hub knows of a connection.
pub(super) struct Seat {
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) subscriptions: BTreeMap<SubscriptionKey, Subscription>,
    /// What let it in.
    pub(super) pass: Option<Pass>,
}

/// A connection's place at the hub; when it is dropped, nothing of the connection is left there.
pub(crate) struct Place {
    hub: Arc<Hub>,
    pub(crate) id: ConnectionId,
    pub(crate) mailbox: Arc<Mailbox>,
}

/// The last values of one pattern on their way to a new subscription.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) subscription: SubscriptionKey,
    pattern: Pattern,
    /// The last topic that was put in; none at the beginning.
    after: Option<Destination>,
}

impl Hub {
    /// A gap of `long_gap` between two prices of a topic is long.
    pub(crate) fn new(long_gap: Duration) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            tree: TopicTree::default(),
            bus: StrategyBus::new(),
            echoes: Echoes::default(),
            market: Book::new(MARKET_TOPICS_MAX, long_gap),
            state: Book::new(STATE_TOPICS_MAX, long_gap),
            queues: Queues::default(),
            seats: BTreeMap::new(),
            next_connection: 1,
            next_message: 1,
            sequence: 0,
            is_full_told: false,
        })))
    }

    pub(crate) fn seat(self: &Arc<Self>, mailbox: Arc<Mailbox>) -> Place {
        let mut state = self.lock();
        let id = ConnectionId(state.next_connection);
        state.next_connection += 1;
        state.seats.insert(id, Seat { mailbox: mailbox.clone(), subscriptions: BTreeMap::new(), pass: None });
        Place { hub: self.clone(), id, mailbox }
    }

    /// Events of the engine, in their order.
    pub(crate) fn tell(&self, now: Time, events: &[(u64, Told)]) {
        let mut state = self.lock();
        for (sequence, told) in events {
            state.sequence = state.sequence.max(*sequence);
            let from = told.generic.as_ref().and_then(|event| state.echoes.claim(event));
            told.destinations.iter().for_each(|destination| state.publish(now, told, destination, from));
            state.share(now, told, from);
        }
    }

    /// A line of our own, beside the engine's events: it bears the sequence of the newest of those.
    pub(crate) fn announce(&self, now: Time, destination: Destination, body: Vec<u8>) {
        let mut state = self.lock();
        let headers = headers(state.sequence);
        let message = state.message(&destination, &headers, &body);
        state.deliver(now, &destination, &message, None);
    }

    /// Everybody is disconnected with an ERROR.
    pub(crate) fn end_all(&self, end: &End) {
        self.lock().seats.values().for_each(|seat| seat.mailbox.end(end.clone()));
    }

    /// Ends the connections whose pass no longer stands.
    pub(crate) fn show_out(&self, stands: impl Fn(&Pass) -> bool) {
        let passes: Vec<_> = {
            let state = self.lock();
            let admitted = state.seats.values().filter_map(|seat| Some((seat.mailbox.clone(), seat.pass.clone()?)));
            admitted.collect()
        };
        let fallen = passes.into_iter().filter(|(_, pass)| !stands(pass));
        fallen.for_each(|(mailbox, _)| mailbox.end(End::NotAdmitted));
    }

    /// Adds what stands at this moment.
    pub(crate) fn count(&self, numbers: Numbers) -> Numbers {
        let state = self.lock();
        let seats = state.seats.values();
        let mailboxes: Vec<_> = seats.clone().map(|seat| seat.mailbox.clone()).collect();
        let subscriptions = seats.map(|seat| seat.subscriptions.len()).sum();
        let patterns = state.tree.patterns() + state.bus.tree.patterns();
        let queued = state.queues.bytes();
        // Publishers go on while mailboxes are looked into.
        drop(state);
        let waiting: usize = mailboxes.iter().map(|mailbox| mailbox.open().lanes.waiting_bytes()).sum();
        Numbers { connections: mailboxes.len(), subscriptions, patterns, queue_bytes: waiting + queued, ..numbers }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Every change below is whole before the lock is given back.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn publish(&mut self, now: Time, told: &Told, destination: &Destination, from: Option<ConnectionId>) {
        let message = self.message(destination, &told.headers, &told.body);
        match told.family {
            Family::Market => return self.publish_price(now, destination, &message),
            Family::State => self.remember(now, destination, told.subject.as_deref(), &message),
            Family::LastOfState => drop(self.state.forget(destination)),
            Family::Passing => {}
        }
        self.deliver(now, destination, &message, from);
    }

    fn publish_price(&mut self, now: Time, destination: &Destination, message: &Arc<Message>) {
        let Ok((topic, pace)) = self.market.record(now, destination, message) else {
            return self.deliver(now, destination, message, None);
        };
        for (connection, subscription) in self.tree.listeners(destination) {
            if let Some(seat) = self.seats.get(&connection) {
                seat.mailbox.market(SlotKey { subscription, topic }, message, pace);
            }
        }
    }

    fn remember(&mut self, now: Time, destination: &Destination, subject: Option<&str>, message: &Arc<Message>) {
        let remembered = match subject {
            Some(subject) => self.state.record_about(now, destination, subject, message),
            None => self.state.record(now, destination, message),
        };
        if let Err(full @ TooManyTopics { .. }) = remembered
            && !std::mem::replace(&mut self.is_full_told, true)
        {
            tracing::warn!("snapshots leave out new topics: {full}");
        }
    }

    fn deliver(&mut self, now: Time, destination: &Destination, message: &Arc<Message>, from: Option<ConnectionId>) {
        hand_out(&self.seats, self.tree.listeners(destination), now, message, from);
    }

    pub(super) fn message(&mut self, destination: &Destination, headers: &Headers, body: &[u8]) -> Arc<Message> {
        let id = self.next_message;
        self.next_message += 1;
        Arc::new(Message::new(id, destination, headers, body))
    }

    /// A client's own headers, with the sequence of the newest event behind them.
    fn message_of(&mut self, sent: &Publication) -> Arc<Message> {
        let mut headers = sent.headers.clone();
        headers.push("sequence", &self.sequence.to_string());
        self.message(&sent.destination, &headers, &sent.body)
    }

    fn tree_of(&mut self, pattern: &Pattern) -> &mut TopicTree<Consumer> {
        if StrategyBus::is_meant_by(pattern) { &mut self.bus.tree } else { &mut self.tree }
    }

    fn unsubscribe(&mut self, id: ConnectionId, subscription: &Subscription) {
        for pattern in &subscription.patterns {
            match pattern.kind() {
                Kind::Topic => drop(self.tree_of(pattern).unsubscribe(pattern, (id, subscription.key))),
                Kind::Queue => self.leave_queue(pattern.name(), (id, subscription.key)),
            }
        }
    }
}

/// To everybody who listens; not back to `from` where a subscription does not want its own.
pub(super) fn hand_out(
    seats: &BTreeMap<ConnectionId, Seat>,
    listeners: impl IntoIterator<Item = Consumer>,
    now: Time,
    message: &Arc<Message>,
    from: Option<ConnectionId>,
) {
    for (connection, subscription) in listeners {
        let Some(seat) = seats.get(&connection) else { continue };
        let is_own = from == Some(connection);
        if is_own && seat.subscriptions.get(&subscription).is_some_and(|found| found.no_local) {
            continue;
        }
        seat.mailbox.reliable(now, delivery(subscription, message, Marks::default()));
    }
}

fn delivery(subscription: SubscriptionKey, message: &Arc<Message>, marks: Marks) -> Delivery {
    Delivery { subscription, message: message.clone(), token: None, marks }
}

impl Place {
    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// The connection stays as long as this stands.
    pub(crate) fn admit(&self, pass: Pass) {
        if let Some(seat) = self.hub.lock().seats.get_mut(&self.id) {
            seat.pass = Some(pass);
        }
    }

    /// From now on the subscription hears what matches. What it wants to know of before is still to be put in.
    pub(crate) fn subscribe(&self, now: Time, subscription: Subscription) -> Result<Vec<Snapshot>, String> {
        let mut state = self.hub.lock();
        let consumer = (self.id, subscription.key);
        for pattern in &subscription.patterns {
            match pattern.kind() {
                Kind::Topic => drop(state.tree_of(pattern).subscribe(pattern, consumer)),
                Kind::Queue => state.join_queue(now, pattern.name(), consumer, subscription.prefetch)?,
            }
        }
        let snapshots = if subscription.snapshot { self.begin_snapshots(&state, &subscription) } else { vec![] };
        if let Some(seat) = state.seats.get_mut(&self.id) {
            seat.subscriptions.insert(subscription.key, subscription);
        }
        Ok(snapshots)
    }

    /// Prices are put in at once, because they conflate; the rest follows as fast as the client reads.
    fn begin_snapshots(&self, state: &State, subscription: &Subscription) -> Vec<Snapshot> {
        let topics = subscription.patterns.iter().filter(|pattern| pattern.kind() == Kind::Topic);
        let begun = topics.map(|pattern| {
            for (_, topic) in state.market.matching(pattern) {
                let key = SlotKey { subscription: subscription.key, topic: topic.id };
                self.mailbox.market_snapshot(key, &topic.last);
            }
            Snapshot { subscription: subscription.key, pattern: pattern.clone(), after: None }
        });
        begun.collect()
    }

    /// Puts in more of a snapshot and says whether that was all. What is put in is the last value of this moment, so a
    /// topic never goes back in time.
    pub(crate) fn go_on(&self, now: Time, snapshot: &mut Snapshot) -> bool {
        let state = self.hub.lock();
        let marks = Marks { snapshot: true, ..Marks::default() };
        let mut octets = 0;
        let after = snapshot.after.take();
        let missing = state.state.matching(&snapshot.pattern);
        for (destination, topic) in missing.filter(|(destination, _)| after.as_ref().is_none_or(|at| *destination > at))
        {
            for last in topic.last_words() {
                octets += last.tail(stomp::Version::V12).len();
                self.mailbox.reliable(now, delivery(snapshot.subscription, last, marks));
            }
            if octets >= SNAPSHOT_STEP_BYTES {
                snapshot.after = Some(destination.clone());
                return false;
            }
        }
        true
    }

    pub(crate) fn unsubscribe(&self, key: SubscriptionKey) {
        let mut state = self.hub.lock();
        let ended = state.seats.get_mut(&self.id).and_then(|seat| seat.subscriptions.remove(&key));
        ended.iter().for_each(|subscription| state.unsubscribe(self.id, subscription));
        drop(state);
        self.mailbox.open().lanes.forget(key);
    }

    /// The engine is about to be told this event, and everybody hears it from there. Where the engine does not take it, the
    /// connection ends.
    pub(crate) fn expect(&self, event: GenericEvent) {
        let mut state = self.hub.lock();
        let is_heeded = |seat: &Seat| seat.subscriptions.values().any(|subscription| subscription.no_local);
        if state.seats.get(&self.id).is_some_and(is_heeded) {
            state.echoes.expect(self.id, event);
        }
    }

    /// A message of a client to a topic that is not the engine's.
    pub(crate) fn send_to_topic(&self, now: Time, sent: &Publication) {
        let mut state = self.hub.lock();
        let message = state.message_of(sent);
        state.deliver(now, &sent.destination, &message, Some(self.id));
    }

    pub(crate) fn send_to_queue(&self, now: Time, sent: &Publication) -> Result<(), String> {
        let mut state = self.hub.lock();
        let message = state.message_of(sent);
        state.send_to_queue(now, sent.destination.name(), message, sent.body.len())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        let Some(seat) = state.seats.remove(&self.id) else { return };
        seat.subscriptions.values().for_each(|subscription| state.unsubscribe(self.id, subscription));
        state.echoes.leave(self.id);
    }
}
