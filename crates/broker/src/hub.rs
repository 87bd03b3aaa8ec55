//! Where publishers and connections meet: who listens to what, what was said last, who is there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use access::Pass;
use domain::command::GenericEvent;
use domain::{Event, Published, ReferenceData};
use stomp::lanes::{Delivery, SlotKey};
use stomp::queues::Queues;
use stomp::session::{Marks, Publication, Subscription, SubscriptionKey};
use stomp::topics::{Book, Pace, TopicId, TopicTree};
use stomp::{Destination, Kind, Message, Pattern, Time};

use crate::echoes::Echoes;
use crate::ending::End;
use crate::limits::MARKET_TOPICS_MAX;
use crate::mailbox::Mailbox;
use crate::numbers::Numbers;
use crate::snapshot::Snapshot;
use crate::standing::Standing;
use crate::strategy_bus::StrategyBus;
use crate::subject::{Family, Subject};
use crate::telling::{MessageNumbers, Telling, Words};
use crate::translate::headers;

/// A connection, never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// One subscription of one connection.
pub(crate) type Consumer = (ConnectionId, SubscriptionKey);

/// The slot of a price and how often there is one; nothing for any other event.
pub(super) type Price = Option<(TopicId, Pace)>;

pub(crate) struct Hub(Mutex<State>);

pub(super) struct State {
    tree: TopicTree<Consumer>,
    pub(super) bus: StrategyBus,
    echoes: Echoes,
    /// Last values of prices, with their pace.
    pub(super) market: Book<Subject, Arc<Telling>>,
    /// Last values of everything else that is remembered.
    pub(super) standing: Standing,
    pub(super) queues: Queues<Consumer>,
    pub(super) seats: BTreeMap<ConnectionId, Seat>,
    next_connection: u64,
    pub(super) numbers: MessageNumbers,
    /// Events that were told.
    told: u64,
    /// Of the newest of them.
    sequence: u64,
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

impl Hub {
    /// A gap of `long_gap` between two prices of a topic is long; `state_topics` may have a last value beside them.
    pub(crate) fn new(long_gap: Duration, state_topics: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            tree: TopicTree::default(),
            bus: StrategyBus::new(),
            echoes: Echoes::default(),
            market: Book::new(MARKET_TOPICS_MAX, long_gap),
            standing: Standing::new(state_topics),
            queues: Queues::default(),
            seats: BTreeMap::new(),
            next_connection: 1,
            numbers: MessageNumbers::default(),
            told: 0,
            sequence: 0,
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
    pub(crate) fn tell(&self, now: Time, events: impl IntoIterator<Item = Published>, reference: &ReferenceData) {
        let mut state = self.lock();
        events.into_iter().for_each(|published| state.tell(now, published, reference));
    }

    /// A line of our own, beside the engine's events: it bears the sequence of the newest of those.
    pub(crate) fn announce(&self, now: Time, destination: &Destination, body: &[u8]) {
        let mut state = self.lock();
        let headers = headers(state.sequence);
        let message = state.numbers.message(destination, &headers, body);
        state.hand_out(now, destination, &message, None);
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
    fn tell(&mut self, now: Time, published: Published, reference: &ReferenceData) {
        if wire::topics::roots(&published.event).is_empty() {
            return;
        }
        self.sequence = self.sequence.max(published.sequence);
        self.told += 1;
        let telling = Telling::new(published, self.told);
        let words = telling.words(reference);
        let from = match telling.event() {
            Event::Generic(event) => self.echoes.claim(event),
            _ => None,
        };
        let price = self.remember(now, &telling);
        self.publish(now, &telling, &words, price, from);
        self.share(now, &telling, &words, price, from);
    }

    /// Gives the slot and the pace of a price.
    fn remember(&mut self, now: Time, telling: &Arc<Telling>) -> Price {
        match Family::of(telling.event()) {
            // Where there are too many topics of prices, those of the others are not conflated.
            Family::Market(subject) => return self.market.record(now, subject, telling.clone()).ok(),
            Family::State(subject) => self.standing.record(subject, telling),
            Family::LastOfState(subject) => self.standing.forget(&subject),
            Family::Passing => {}
        }
        None
    }

    /// To everybody who listens. Where nobody does, nothing is put into words.
    fn publish(&mut self, now: Time, telling: &Telling, words: &Words<'_>, price: Price, from: Option<ConnectionId>) {
        for (place, root) in telling.roots().iter().enumerate() {
            if !self.tree.hears(root) {
                continue;
            }
            let mut listeners = self.tree.listeners(&words.destinations()[place]).peekable();
            if listeners.peek().is_none() {
                continue;
            }
            let message = &telling.messages(words, &mut self.numbers)[place];
            match price {
                Some(price) => hand_out_price(&self.seats, listeners, message, price),
                None => hand_out(&self.seats, listeners, now, message, from),
            }
        }
    }

    fn hand_out(&mut self, now: Time, destination: &Destination, message: &Arc<Message>, from: Option<ConnectionId>) {
        hand_out(&self.seats, self.tree.listeners(destination), now, message, from);
    }

    /// A client's own headers, with the sequence of the newest event behind them.
    fn message_of(&mut self, sent: &Publication) -> Arc<Message> {
        let mut headers = sent.headers.clone();
        headers.push("sequence", &self.sequence.to_string());
        self.numbers.message(&sent.destination, &headers, &sent.body)
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

/// To everybody who listens to a price, of which the newest counts.
fn hand_out_price(
    seats: &BTreeMap<ConnectionId, Seat>,
    listeners: impl IntoIterator<Item = Consumer>,
    message: &Arc<Message>,
    (topic, pace): (TopicId, Pace),
) {
    for (connection, subscription) in listeners {
        if let Some(seat) = seats.get(&connection) {
            seat.mailbox.market(SlotKey { subscription, topic }, message, pace);
        }
    }
}

pub(super) fn delivery(subscription: SubscriptionKey, message: &Arc<Message>, marks: Marks) -> Delivery {
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
        let snapshots = if subscription.snapshot { Snapshot::begin(&subscription, state.told) } else { vec![] };
        if let Some(seat) = state.seats.get_mut(&self.id) {
            seat.subscriptions.insert(subscription.key, subscription);
        }
        Ok(snapshots)
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
        state.hand_out(now, &sent.destination, &message, Some(self.id));
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
