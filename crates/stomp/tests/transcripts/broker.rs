//! Minimal complete broker: sessions, lanes, topics and queues, on a virtual clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stomp::lanes::{Batch, Delivery, Lanes};
use stomp::queues::Queues;
use stomp::session::{
    Action, Closing, Credentials, Marks, Publication, Rights, Rules, Session, Subscription, SubscriptionKey, Work,
};
use stomp::topics::{Book, TOPICS_MAX, TopicTree};
use stomp::{Destination, Headers, Kind, Message, Pattern, Time};

use crate::text::{from_line, to_line};

/// One subscription of one client.
type Consumer = (u32, SubscriptionKey);

pub(crate) struct Broker {
    now: Time,
    names: BTreeMap<String, u32>,
    clients: BTreeMap<u32, Client>,
    last_number: u32,
    tree: TopicTree<Consumer>,
    queues: Queues<Consumer>,
    book: Book<Destination, Arc<Message>>,
    next_message: u64,
    outputs: Vec<String>,
}

struct Client {
    name: String,
    session: Session,
    lanes: Lanes,
    subscriptions: BTreeMap<SubscriptionKey, Subscription>,
    /// The final frame is written, then the socket closes.
    closing: Option<Closing>,
}

impl Default for Broker {
    fn default() -> Self {
        Self {
            now: Time(0),
            names: BTreeMap::new(),
            clients: BTreeMap::new(),
            last_number: 0,
            tree: TopicTree::default(),
            queues: Queues::default(),
            book: Book::new(TOPICS_MAX, Duration::from_secs(10)),
            next_message: 1,
            outputs: Vec::new(),
        }
    }
}

/// A guest may subscribe to ticks; other logins to everything, and send to queues and generic events.
fn rights(login: Option<&str>) -> Arc<Rights> {
    let patterns = |texts: &[&str]| texts.iter().map(|text| Pattern::parse(text).expect("a pattern")).collect();
    Arc::new(match login {
        Some("guest") => Rights { subscribe: patterns(&["/topic/tick.>"]), ..Rights::default() },
        _ => Rights {
            send: patterns(&["/queue/>", "/topic/generic-event.>"]),
            subscribe: patterns(&["/queue/>", "/topic/>"]),
            ..Rights::default()
        },
    })
}

/// A space is written as an escape, because parts of a line are separated by spaces.
fn destination_of(word: &str) -> Destination {
    let text = String::from_utf8(from_line(word)).expect("UTF-8");
    Destination::parse(&text).expect("a destination")
}

impl Broker {
    /// Executes one line of a transcript and returns the output lines.
    pub(crate) fn play(&mut self, line: &str) -> Vec<String> {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words[..] {
            ["wait", millis] => self.wait(millis.parse().expect("milliseconds")),
            ["admit", name] => self.act(name, |session, now, actions| session.admit(now, rights(None), actions)),
            ["drop", name] => self.lose(name),
            ["publish", destination, body] => self.publish_own(destination, &from_line(body)),
            ["price", destination, body] => self.price(destination, &from_line(body)),
            ["refuse", name, text] => self.act(name, |session, _, actions| session.refuse(text, None, actions)),
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
        let session = Session::new(self.now, format!("session-{number}"), Arc::new(Rules::new("Rialto/test")));
        let (lanes, subscriptions) = (Lanes::free(), BTreeMap::new());
        self.clients.insert(number, Client { name: name.to_owned(), session, lanes, subscriptions, closing: None });
        self.names.insert(name.to_owned(), number);
        number
    }

    fn act(&mut self, name: &str, act: impl FnOnce(&mut Session, Time, &mut Vec<Action>)) {
        let number = self.number(name);
        let now = self.now;
        let mut actions = Vec::new();
        if let Some(client) = self.clients.get_mut(&number) {
            act(&mut client.session, now, &mut actions);
            client.lanes.room_made();
        }
        self.perform(number, actions);
    }

    /// Lets time pass, and runs every timer when it is due.
    fn wait(&mut self, millis: u64) {
        let end = self.now.after(Duration::from_millis(millis));
        loop {
            let next = self.clients.values().map(|client| client.session.deadline()).min().unwrap_or(Time::NEVER);
            self.now = next.clamp(self.now, end);
            for name in self.names.keys().cloned().collect::<Vec<_>>() {
                self.act(&name, Session::tick);
            }
            self.flush();
            if next > end {
                return;
            }
        }
    }

    fn perform(&mut self, number: u32, actions: Vec<Action>) {
        for action in actions {
            if let Err((text, receipt)) = self.perform_one(number, action) {
                let mut last_words = Vec::new();
                let Some(client) = self.clients.get_mut(&number) else {
                    return;
                };
                client.session.refuse(&text, receipt.as_deref(), &mut last_words);
                return self.perform(number, last_words);
            }
        }
    }

    /// A failed action is an error text for the client and the receipt of its frame.
    fn perform_one(&mut self, number: u32, action: Action) -> Result<(), (String, Option<String>)> {
        let Some(client) = self.clients.get_mut(&number) else {
            return Ok(());
        };
        match action {
            Action::Send(bytes) => client.lanes.control(bytes).map_err(|slow| (slow.to_string(), None)),
            Action::Authenticate(credentials) => {
                self.authenticate(number, &credentials);
                Ok(())
            }
            Action::Subscribe(subscription) => self.subscribe(number, subscription),
            Action::Unsubscribe(key) => {
                self.unsubscribe(number, key);
                Ok(())
            }
            Action::Perform { work, receipt } => self.commit(number, vec![work]).map_err(|text| (text, receipt)),
            Action::Commit { work, receipt } => self.commit(number, work).map_err(|text| (text, receipt)),
            Action::Forbidden { command, destination } => {
                self.outputs.push(format!("{} audited {} {destination}", client.name, command.name()));
                Ok(())
            }
            Action::Close(closing) => {
                client.closing = Some(closing);
                Ok(())
            }
        }
    }

    /// `pending` is answered by a line of the transcript, other logins at once.
    fn authenticate(&mut self, number: u32, credentials: &Credentials) {
        let name = self.clients[&number].name.clone();
        match (credentials.login.as_deref(), credentials.passcode.as_deref()) {
            (Some("pending"), _) => {}
            (_, Some("wrong")) => self.act(&name, |session, _, actions| session.refuse("login failed", None, actions)),
            (login, _) => self.act(&name, |session, now, actions| session.admit(now, rights(login), actions)),
        }
    }

    fn subscribe(&mut self, number: u32, subscription: Subscription) -> Result<(), (String, Option<String>)> {
        let consumer = (number, subscription.key);
        for pattern in &*subscription.patterns {
            match pattern.kind() {
                Kind::Topic => drop(self.tree.subscribe(pattern, consumer)),
                Kind::Queue => self
                    .queues
                    .join(pattern.name(), consumer, subscription.prefetch)
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

    fn deliver_last_values(&mut self, number: u32, subscription: SubscriptionKey, pattern: &Pattern) {
        let client = self.clients.get_mut(&number).expect("it has just asked");
        for (_, topic) in self.book.behind(None).filter(|(destination, _)| pattern.matches(destination)) {
            client.lanes.market_snapshot(subscription, topic.id, topic.last.clone(), 0);
        }
    }

    fn unsubscribe(&mut self, number: u32, key: SubscriptionKey) {
        let client = self.clients.get_mut(&number).expect("it has just asked");
        client.lanes.forget(key);
        for pattern in
            client.subscriptions.remove(&key).into_iter().flat_map(|subscription| subscription.patterns.to_vec())
        {
            match pattern.kind() {
                Kind::Topic => drop(self.tree.unsubscribe(&pattern, (number, key))),
                Kind::Queue => self.queues.leave(pattern.name(), (number, key)),
            }
        }
    }

    fn commit(&mut self, number: u32, work: Vec<Work>) -> Result<(), String> {
        let sent = work.iter().filter_map(|work| match work {
            Work::Publish(sent) if sent.destination.kind() == Kind::Queue => {
                Some((sent.destination.name(), sent.body.len()))
            }
            _ => None,
        });
        self.queues.check(sent).map_err(|full| full.to_string())?;
        for work in work {
            match work {
                Work::Publish(publication) => self.publish(Some(number), &publication)?,
                Work::Settle { subscription, tokens } => {
                    let queues = self.queues_of((number, subscription));
                    queues.iter().for_each(|name| self.queues.settle(name, (number, subscription), &tokens));
                }
                Work::Return { subscription, tokens } => {
                    let queues = self.queues_of((number, subscription));
                    queues.iter().for_each(|name| self.queues.give_back(name, (number, subscription), &tokens));
                }
            }
        }
        Ok(())
    }

    fn queues_of(&self, (number, key): Consumer) -> Vec<String> {
        let patterns = self.clients[&number].subscriptions.get(&key).map_or(&[][..], |found| &found.patterns);
        let queues = patterns.iter().filter(|pattern| pattern.kind() == Kind::Queue);
        queues.map(|pattern| pattern.name().to_owned()).collect()
    }

    fn publish_own(&mut self, destination: &str, body: &[u8]) {
        let destination = destination_of(destination);
        let publication = Publication { destination, headers: Headers::default(), body: body.to_vec() };
        self.publish(None, &publication).expect("a transcript stays within the limits");
    }

    fn publish(&mut self, from: Option<u32>, sent: &Publication) -> Result<(), String> {
        let message = self.message(&sent.destination, &sent.headers, &sent.body);
        if sent.destination.kind() == Kind::Queue {
            let (name, size) = (sent.destination.name(), sent.body.len());
            return self.queues.send(name, message, size).map_err(|full| full.to_string());
        }
        for (number, subscription) in self.tree.listeners(&sent.destination) {
            let client = self.clients.get_mut(&number).expect("a subscriber is connected");
            if Some(number) == from && client.subscriptions[&subscription].no_local {
                continue;
            }
            let delivery = Delivery { subscription, message: message.clone(), token: None, marks: Marks::default() };
            client.lanes.reliable(delivery);
        }
        Ok(())
    }

    /// Market data: the newest value counts, and is cached for snapshots.
    fn price(&mut self, destination: &str, body: &[u8]) {
        let destination = destination_of(destination);
        let message = self.message(&destination, &Headers::default(), body);
        let (topic, pace) = self.book.record(self.now, destination.clone(), message.clone()).expect("a book with room");
        for (number, subscription) in self.tree.listeners(&destination) {
            let client = self.clients.get_mut(&number).expect("a subscriber is connected");
            client.lanes.market(subscription, topic, message.clone(), pace);
        }
    }

    fn message(&mut self, destination: &Destination, headers: &Headers, body: &[u8]) -> Arc<Message> {
        let id = self.next_message;
        self.next_message += 1;
        Arc::new(Message::new(id, destination, headers, body))
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
            while let Some(next) =
                self.queues.next(&name, |(number, _)| Lanes::takes_more(self.clients[&number].lanes.waiting_bytes()))
            {
                let (number, subscription) = next.consumer;
                let marks = Marks { redelivered: next.redelivered, ..Marks::default() };
                let delivery = Delivery { subscription, message: next.message, token: Some(next.token), marks };
                let client = self.clients.get_mut(&number).expect("a consumer is connected");
                client.lanes.reliable(delivery);
            }
        }
    }

    fn write(&mut self, number: u32) -> bool {
        let client = self.clients.get_mut(&number).expect("a client of ours");
        let mut batch = Batch::default();
        client.lanes.drain(self.now, usize::MAX, client.session.subscriptions(), &mut batch);
        for (head, tail) in batch.frames() {
            self.outputs.push(format!("{} < {}", client.name, to_line(&[head, tail].concat())));
        }
        if batch.bytes() > 0 {
            client.session.sent(self.now);
        }
        for (subscription, token) in batch.settled() {
            let consumer = (number, *subscription);
            self.queues_of(consumer).iter().for_each(|name| self.queues.settle(name, consumer, &[*token]));
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
