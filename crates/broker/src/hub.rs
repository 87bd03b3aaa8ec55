//! Where publishers and connections meet: who listens to what, what was said last, who is there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use access::Pass;
use domain::command::GenericEvent;
use domain::{Event, Published, ReferenceData};
use stomp::session::{Publication, Subscription};
use stomp::topics::TopicTree;
use stomp::{Destination, Kind, Message, Pattern, Time};

use crate::echoes::Echoes;
use crate::ending::End;
use crate::last_values::LastValues;
use crate::mailbox::Mailbox;
use crate::numbers::Numbers;
use crate::queues::FedQueues;
use crate::seats::{ConnectionId, Consumer, Price, Seat, Seats};
use crate::snapshot::{Snapshot, Step};
use crate::strategy_bus::StrategyBus;
use crate::telling::{MessageNumbers, Telling, Words};
use crate::translate::headers;

pub(crate) struct Hub(Mutex<State>);

/// What is known at the hub; whoever holds the lock changes it as a whole.
pub(crate) struct State {
    tree: TopicTree<Consumer>,
    bus: StrategyBus,
    echoes: Echoes,
    last_values: LastValues,
    pub(crate) queues: FedQueues,
    pub(crate) seats: Seats,
    numbers: MessageNumbers,
    /// Events that were told.
    told: u64,
    /// Of the newest of them.
    sequence: u64,
}

impl Hub {
    /// A gap of `long_gap` between two prices of a topic is long; `state_topics` may have a last value beside them.
    pub(crate) fn new(long_gap: Duration, state_topics: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            tree: TopicTree::default(),
            bus: StrategyBus::new(),
            echoes: Echoes::default(),
            last_values: LastValues::new(long_gap, state_topics),
            queues: FedQueues::default(),
            seats: Seats::default(),
            numbers: MessageNumbers::default(),
            told: 0,
            sequence: 0,
        })))
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
        self.lock().seats.iter().for_each(|seat| seat.mailbox.end(end.clone()));
    }

    /// Ends the connections whose pass no longer stands.
    pub(crate) fn show_out(&self, stands: impl Fn(&Pass) -> bool) {
        let passes: Vec<_> = {
            let state = self.lock();
            state.seats.iter().filter_map(|seat| Some((seat.mailbox.clone(), seat.pass.clone()?))).collect()
        };
        let fallen = passes.into_iter().filter(|(_, pass)| !stands(pass));
        fallen.for_each(|(mailbox, _)| mailbox.end(End::NotAdmitted));
    }

    /// Adds what stands at this moment.
    pub(crate) fn count(&self, numbers: Numbers) -> Numbers {
        let state = self.lock();
        let mailboxes: Vec<_> = state.seats.iter().map(|seat| seat.mailbox.clone()).collect();
        let subscriptions = state.seats.iter().map(|seat| seat.subscriptions.len()).sum();
        let patterns = state.tree.patterns() + state.bus.tree.patterns();
        let queued = state.queues.bytes();
        // Publishers go on while mailboxes are looked into.
        drop(state);
        let waiting: usize = mailboxes.iter().map(|mailbox| mailbox.open().lanes.waiting_bytes()).sum();
        Numbers { connections: mailboxes.len(), subscriptions, patterns, queue_bytes: waiting + queued, ..numbers }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
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
        let price = self.last_values.remember(now, &telling);
        self.publish(now, &telling, &words, price, from);
        if let Some(shared) = self.bus.share(&telling, &words, &mut self.numbers) {
            shared.hand_out(&self.seats, now, price, from);
        }
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
                Some(price) => self.seats.hand_out_price(listeners, message, price),
                None => self.seats.hand_out(listeners, now, message, from),
            }
        }
    }

    fn hand_out(&mut self, now: Time, destination: &Destination, message: &Arc<Message>, from: Option<ConnectionId>) {
        self.seats.hand_out(self.tree.listeners(destination), now, message, from);
    }

    pub(crate) fn subscribe(
        &mut self,
        now: Time,
        id: ConnectionId,
        subscription: Subscription,
    ) -> Result<Vec<Snapshot>, String> {
        let consumer = (id, subscription.key);
        for pattern in &subscription.patterns {
            match pattern.kind() {
                Kind::Topic => drop(self.tree_of(pattern).subscribe(pattern, consumer)),
                Kind::Queue => {
                    self.queues.join(&self.seats, now, pattern.name(), consumer, subscription.prefetch)?;
                }
            }
        }
        let snapshots = if subscription.snapshot { Snapshot::begin(&subscription, self.told) } else { vec![] };
        if let Some(seat) = self.seats.get_mut(id) {
            seat.subscriptions.insert(subscription.key, subscription);
        }
        Ok(snapshots)
    }

    pub(crate) fn go_on(
        &mut self,
        now: Time,
        snapshot: &mut Snapshot,
        mailbox: &Mailbox,
        reference: &ReferenceData,
    ) -> bool {
        let mut step = Step { now, reference, numbers: &mut self.numbers, mailbox };
        snapshot.go_on(&self.last_values, &mut step)
    }

    pub(crate) fn unsubscribe(&mut self, id: ConnectionId, subscription: &Subscription) {
        for pattern in &subscription.patterns {
            match pattern.kind() {
                Kind::Topic => drop(self.tree_of(pattern).unsubscribe(pattern, (id, subscription.key))),
                Kind::Queue => self.queues.leave(pattern.name(), (id, subscription.key)),
            }
        }
    }

    fn tree_of(&mut self, pattern: &Pattern) -> &mut TopicTree<Consumer> {
        if StrategyBus::is_meant_by(pattern) { &mut self.bus.tree } else { &mut self.tree }
    }

    /// Written down only for those who do not want to hear their own.
    pub(crate) fn expect(&mut self, id: ConnectionId, event: GenericEvent) {
        if self.seats.get(id).is_some_and(Seat::does_not_want_its_own) {
            self.echoes.expect(id, event);
        }
    }

    pub(crate) fn send_to_topic(&mut self, now: Time, from: ConnectionId, sent: &Publication) {
        let message = self.message_of(sent);
        self.hand_out(now, &sent.destination, &message, Some(from));
    }

    pub(crate) fn send_to_queue(&mut self, now: Time, sent: &Publication) -> Result<(), String> {
        let message = self.message_of(sent);
        self.queues.send(&self.seats, now, sent.destination.name(), message, sent.body.len())
    }

    /// A client's own headers, with the sequence of the newest event behind them.
    fn message_of(&mut self, sent: &Publication) -> Arc<Message> {
        let mut headers = sent.headers.clone();
        headers.push("sequence", &self.sequence.to_string());
        self.numbers.message(&sent.destination, &headers, &sent.body)
    }

    pub(crate) fn queues_and_seats(&mut self) -> (&mut FedQueues, &Seats) {
        (&mut self.queues, &self.seats)
    }

    pub(crate) fn leave(&mut self, id: ConnectionId) {
        let Some(seat) = self.seats.leave(id) else { return };
        seat.subscriptions.values().for_each(|subscription| self.unsubscribe(id, subscription));
        self.echoes.leave(id);
    }
}
