//! Minimal complete broker: sessions, lanes, topics and queues, on a virtual clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stomp::lanes::{FrameBatch, OutboundLanes, SubscriptionDelivery};
use stomp::queues::MessageQueues;
use stomp::session::{
    BrokerRequest, CloseCause, ConnectCredentials, DeliveryFlags, Permissions, Publication, StompAction, StompRules,
    StompSession, Subscription, SubscriptionKey,
};
use stomp::topics::{LastValueTable, TOPICS_MAX, TopicTree};
use stomp::{Destination, DestinationKind, DestinationPattern, Headers, MonotonicTime, StompMessage};

use crate::text::{from_line, to_line};

/// One subscription of one client.
type Consumer = (u32, SubscriptionKey);

pub(crate) struct TranscriptBroker {
    now: MonotonicTime,
    names: BTreeMap<String, u32>,
    clients: BTreeMap<u32, TranscriptClientState>,
    last_number: u32,
    tree: TopicTree<Consumer>,
    queues: MessageQueues<Consumer>,
    book: LastValueTable<Destination, Arc<StompMessage>>,
    next_message: u64,
    outputs: Vec<String>,
}

struct TranscriptClientState {
    name: String,
    session: StompSession,
    lanes: OutboundLanes,
    subscriptions: BTreeMap<SubscriptionKey, Subscription>,
    /// The final frame is written, then the socket closes.
    closing: Option<CloseCause>,
}

impl Default for TranscriptBroker {
    fn default() -> Self {
        Self {
            now: MonotonicTime(0),
            names: BTreeMap::new(),
            clients: BTreeMap::new(),
            last_number: 0,
            tree: TopicTree::default(),
            queues: MessageQueues::default(),
            book: LastValueTable::new(TOPICS_MAX, Duration::from_secs(10)),
            next_message: 1,
            outputs: Vec::new(),
        }
    }
}

/// A guest may subscribe to ticks; other logins to everything, and send to queues and generic events.
fn rights(login: Option<&str>) -> Arc<Permissions> {
    let patterns =
        |texts: &[&str]| texts.iter().map(|text| DestinationPattern::parse(text).expect("a pattern")).collect();
    Arc::new(match login {
        Some("guest") => Permissions { subscribe: patterns(&["/topic/tick.>"]), ..Permissions::default() },
        _ => Permissions {
            send: patterns(&["/queue/>", "/topic/generic-event.>"]),
            subscribe: patterns(&["/queue/>", "/topic/>"]),
            ..Permissions::default()
        },
    })
}

/// A space is written as an escape, because parts of a line are separated by spaces.
fn destination_of(word: &str) -> Destination {
    let text = String::from_utf8(from_line(word)).expect("UTF-8");
    Destination::parse(&text).expect("a destination")
}

impl TranscriptBroker {
    /// Executes one line of a transcript and returns the output lines.
    pub(crate) fn play(&mut self, line: &str) -> Vec<String> {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words[..] {
            ["wait", millis] => self.wait(millis.parse().expect("milliseconds")),
            ["admit", name] => {
                self.act(name, |session, now, actions| session.on_authenticated(now, rights(None), actions));
            }
            ["drop", name] => self.lose(name),
            ["publish", destination, body] => self.publish_own(destination, &from_line(body)),
            ["price", destination, body] => self.price(destination, &from_line(body)),
            ["refuse", name, text] => {
                self.act(name, |session, _, actions| session.close_with_error(text, None, actions));
            }
            [name, ">", bytes] => {
                self.act(name, |session, now, actions| session.receive(now, &from_line(bytes), actions));
            }
            _ => panic!("not a line of a transcript: {line}"),
        }
        self.flush();
        std::mem::take(&mut self.outputs)
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        self.last_number += 1;
        let number = self.last_number;
        let session =
            StompSession::new(self.now, format!("session-{number}"), Arc::new(StompRules::new("Rialto/test")));
        let (lanes, subscriptions) = (OutboundLanes::unthrottled(), BTreeMap::new());
        self.clients.insert(
            number,
            TranscriptClientState { name: name.to_owned(), session, lanes, subscriptions, closing: None },
        );
        self.names.insert(name.to_owned(), number);
        number
    }

    fn act(&mut self, name: &str, act: impl FnOnce(&mut StompSession, MonotonicTime, &mut Vec<StompAction>)) {
        let number = self.number(name);
        let now = self.now;
        let mut actions = Vec::new();
        if let Some(client) = self.clients.get_mut(&number) {
            act(&mut client.session, now, &mut actions);
            client.lanes.on_room();
        }
        self.perform(number, actions);
    }

    /// Lets time pass, and runs every timer when it is due.
    fn wait(&mut self, millis: u64) {
        let end = self.now.after(Duration::from_millis(millis));
        loop {
            let next =
                self.clients.values().map(|client| client.session.deadline()).min().unwrap_or(MonotonicTime::NEVER);
            self.now = next.clamp(self.now, end);
            for name in self.names.keys().cloned().collect::<Vec<_>>() {
                self.act(&name, StompSession::tick);
            }
            self.flush();
            if next > end {
                return;
            }
        }
    }

    fn perform(&mut self, number: u32, actions: Vec<StompAction>) {
        for action in actions {
            if let Err((text, receipt)) = self.perform_one(number, action) {
                let mut last_words = Vec::new();
                let Some(client) = self.clients.get_mut(&number) else {
                    return;
                };
                client.session.close_with_error(&text, receipt.as_deref(), &mut last_words);
                return self.perform(number, last_words);
            }
        }
    }

    /// A failed action is an error text for the client and the receipt of its frame.
    fn perform_one(&mut self, number: u32, action: StompAction) -> Result<(), (String, Option<String>)> {
        let Some(client) = self.clients.get_mut(&number) else {
            return Ok(());
        };
        match action {
            StompAction::Send(bytes) => client.lanes.push_control(bytes).map_err(|slow| (slow.to_string(), None)),
            StompAction::Authenticate(credentials) => {
                self.authenticate(number, &credentials);
                Ok(())
            }
            StompAction::Subscribe(subscription) => self.subscribe(number, subscription),
            StompAction::Unsubscribe(key) => {
                self.unsubscribe(number, key);
                Ok(())
            }
            StompAction::Execute { work, receipt } => self.commit(number, vec![work]).map_err(|text| (text, receipt)),
            StompAction::Commit { work, receipt } => self.commit(number, work).map_err(|text| (text, receipt)),
            StompAction::Forbidden { command, destination } => {
                self.outputs.push(format!("{} audited {} {destination}", client.name, command.name()));
                Ok(())
            }
            StompAction::Close(closing) => {
                client.closing = Some(closing);
                Ok(())
            }
        }
    }

    /// `pending` is answered by a line of the transcript, other logins at once.
    fn authenticate(&mut self, number: u32, credentials: &ConnectCredentials) {
        let name = self.clients[&number].name.clone();
        match (credentials.login.as_deref(), credentials.passcode.as_deref()) {
            (Some("pending"), _) => {}
            (_, Some("wrong")) => {
                self.act(&name, |session, _, actions| session.close_with_error("login failed", None, actions));
            }
            (login, _) => {
                self.act(&name, |session, now, actions| session.on_authenticated(now, rights(login), actions));
            }
        }
    }

    fn subscribe(&mut self, number: u32, subscription: Subscription) -> Result<(), (String, Option<String>)> {
        let consumer = (number, subscription.key);
        for pattern in &*subscription.patterns {
            match pattern.kind() {
                DestinationKind::Topic => drop(self.tree.subscribe(pattern, consumer)),
                DestinationKind::Queue => self
                    .queues
                    .add_consumer(pattern.name(), consumer, subscription.prefetch)
                    .map_err(|full| (full.to_string(), None))?,
            }
            if subscription.snapshot {
                self.deliver_last_values(number, subscription.key, pattern);
            }
        }
        let client = self.clients.get_mut(&number).expect("it has just asked");
        client.subscriptions.insert(subscription.key, subscription);
        Ok(())
    }

    fn deliver_last_values(&mut self, number: u32, subscription: SubscriptionKey, pattern: &DestinationPattern) {
        let client = self.clients.get_mut(&number).expect("it has just asked");
        for (_, topic) in self.book.iter_after(None).filter(|(destination, _)| pattern.matches(destination)) {
            client.lanes.push_market_snapshot(subscription, topic.id, topic.last.clone(), 0);
        }
    }

    fn unsubscribe(&mut self, number: u32, key: SubscriptionKey) {
        let client = self.clients.get_mut(&number).expect("it has just asked");
        client.lanes.remove_subscription(key);
        for pattern in
            client.subscriptions.remove(&key).into_iter().flat_map(|subscription| subscription.patterns.to_vec())
        {
            match pattern.kind() {
                DestinationKind::Topic => drop(self.tree.unsubscribe(&pattern, (number, key))),
                DestinationKind::Queue => self.queues.remove_consumer(pattern.name(), (number, key)),
            }
        }
    }

    fn commit(&mut self, number: u32, work: Vec<BrokerRequest>) -> Result<(), String> {
        let sent = work.iter().filter_map(|work| match work {
            BrokerRequest::Publish(sent) if sent.destination.kind() == DestinationKind::Queue => {
                Some((sent.destination.name(), sent.body.len()))
            }
            _ => None,
        });
        self.queues.check(sent).map_err(|full| full.to_string())?;
        for work in work {
            match work {
                BrokerRequest::Publish(publication) => self.publish(Some(number), &publication)?,
                BrokerRequest::Acknowledge { subscription, tokens } => {
                    let queues = self.queues_of((number, subscription));
                    queues.iter().for_each(|name| self.queues.acknowledge(name, (number, subscription), &tokens));
                }
                BrokerRequest::Requeue { subscription, tokens } => {
                    let queues = self.queues_of((number, subscription));
                    queues.iter().for_each(|name| self.queues.requeue(name, (number, subscription), &tokens));
                }
            }
        }
        Ok(())
    }

    fn queues_of(&self, (number, key): Consumer) -> Vec<String> {
        let patterns = self.clients[&number].subscriptions.get(&key).map_or(&[][..], |found| &found.patterns);
        let queues = patterns.iter().filter(|pattern| pattern.kind() == DestinationKind::Queue);
        queues.map(|pattern| pattern.name().to_owned()).collect()
    }

    fn publish_own(&mut self, destination: &str, body: &[u8]) {
        let destination = destination_of(destination);
        let publication = Publication { destination, headers: Headers::default(), body: body.to_vec() };
        self.publish(None, &publication).expect("a transcript stays within the limits");
    }

    fn publish(&mut self, from: Option<u32>, sent: &Publication) -> Result<(), String> {
        let message = self.message(&sent.destination, &sent.headers, &sent.body);
        if sent.destination.kind() == DestinationKind::Queue {
            let (name, size) = (sent.destination.name(), sent.body.len());
            return self.queues.send(name, message, size).map_err(|full| full.to_string());
        }
        for (number, subscription) in self.tree.subscribers(&sent.destination) {
            let client = self.clients.get_mut(&number).expect("a subscriber is connected");
            if Some(number) == from && client.subscriptions[&subscription].no_local {
                continue;
            }
            let delivery = SubscriptionDelivery {
                subscription,
                message: message.clone(),
                token: None,
                flags: DeliveryFlags::default(),
            };
            client.lanes.push_reliable(delivery);
        }
        Ok(())
    }

    /// Market data: the newest value counts, and is cached for snapshots.
    fn price(&mut self, destination: &str, body: &[u8]) {
        let destination = destination_of(destination);
        let message = self.message(&destination, &Headers::default(), body);
        let (topic, pace) = self.book.update(self.now, destination.clone(), message.clone()).expect("a book with room");
        for (number, subscription) in self.tree.subscribers(&destination) {
            let client = self.clients.get_mut(&number).expect("a subscriber is connected");
            client.lanes.push_market(subscription, topic, message.clone(), pace);
        }
    }

    fn message(&mut self, destination: &Destination, headers: &Headers, body: &[u8]) -> Arc<StompMessage> {
        let id = self.next_message;
        self.next_message += 1;
        Arc::new(StompMessage::new(id, destination, headers, body))
    }

    /// Writes everything that can go, until nothing more does.
    fn flush(&mut self) {
        loop {
            self.feed_from_queues();
            let written: Vec<bool> =
                self.clients.keys().copied().collect::<Vec<_>>().into_iter().map(|n| self.write(n)).collect();
            if !written.contains(&true) {
                break;
            }
        }
        for number in self.clients.keys().copied().collect::<Vec<_>>() {
            if self.clients[&number].closing.is_some() {
                self.outputs.push(format!("{} closed", self.clients[&number].name));
                self.forget(number);
            }
        }
    }

    fn feed_from_queues(&mut self) {
        let consumers = self
            .clients
            .iter()
            .flat_map(|(number, client)| client.subscriptions.keys().map(move |key| (*number, *key)));
        let names: Vec<String> = consumers.flat_map(|consumer| self.queues_of(consumer)).collect();
        for name in names {
            while let Some(next) = self.queues.next_delivery(&name, |(number, _)| {
                OutboundLanes::has_room(self.clients[&number].lanes.waiting_bytes())
            }) {
                let (number, subscription) = next.consumer;
                let marks = DeliveryFlags { redelivered: next.redelivered, ..DeliveryFlags::default() };
                let delivery =
                    SubscriptionDelivery { subscription, message: next.message, token: Some(next.token), flags: marks };
                let client = self.clients.get_mut(&number).expect("a consumer is connected");
                client.lanes.push_reliable(delivery);
            }
        }
    }

    fn write(&mut self, number: u32) -> bool {
        let client = self.clients.get_mut(&number).expect("a client of ours");
        let mut batch = FrameBatch::default();
        client.lanes.drain(self.now, usize::MAX, client.session.subscriptions(), &mut batch);
        for (head, tail) in batch.frames() {
            self.outputs.push(format!("{} < {}", client.name, to_line(&[head, tail].concat())));
        }
        if batch.bytes() > 0 {
            client.session.on_sent(self.now);
        }
        for (subscription, token) in batch.acknowledged() {
            let consumer = (number, *subscription);
            self.queues_of(consumer).iter().for_each(|name| self.queues.acknowledge(name, consumer, &[*token]));
        }
        batch.bytes() > 0
    }

    /// The socket of a client breaks.
    fn lose(&mut self, name: &str) {
        let number = self.number(name);
        self.forget(number);
    }

    fn forget(&mut self, number: u32) {
        let keys: Vec<SubscriptionKey> = self.clients[&number].subscriptions.keys().copied().collect();
        keys.into_iter().for_each(|key| self.unsubscribe(number, key));
        let gone = self.clients.remove(&number).expect("a client of ours");
        self.names.remove(&gone.name);
    }
}
