//! What a frame and a delivery cost: `cargo run --release -p stomp --example codec_bench`.
//!
//! Each figure is the median of seven rounds. It is for comparing two states of this code on one machine.

#![allow(clippy::disallowed_methods)] // Measuring needs a clock; the crate itself has none.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use stomp::lanes::{Batch, Broadcast, Incoming, Lanes, Rate};
use stomp::session::{Rights, Rules, SubscriptionKey};
use stomp::topics::{Pace, TopicId, TopicTree};
use stomp::{Decoder, Destination, Headers, Limits, Message, Pattern, Session, Time, Version};

const BODY: &[u8] = br#"{"objectType":"Tick","securityId":12,"feed":"SIM","dateTime":1767225600000,"last":101.25,"lastDateTime":1767225600000,"volLast":100,"bid":101.2,"ask":101.3,"volBid":500,"volAsk":700,"vol":12345}"#;

fn main() {
    decode();
    encode();
    for subscribers in [1, 100, 10_000] {
        fan_out(subscribers);
    }
    exact_subscriptions();
    throttled_offers();
}

/// Nanoseconds for one of `count` things: the median of seven rounds.
fn measure(what: &str, count: u32, mut round: impl FnMut()) {
    let mut times: Vec<f64> = (0..7)
        .map(|_| {
            let begin = Instant::now();
            round();
            begin.elapsed().as_secs_f64() * 1e9 / f64::from(count)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{what:<58} {:>8.1} ns", times[3]);
}

fn topic(number: u64) -> Destination {
    Destination::parse(&format!("/topic/tick.{number}")).expect("a topic")
}

fn headers() -> Headers {
    [("sequence", "123456789"), ("content-type", "application/json")].into_iter().collect()
}

fn decode() {
    let frame = stomp::Frame::new(stomp::Command::Send)
        .with("destination", "/topic/generic-event.ALPHA.signal")
        .with("content-type", "application/json")
        .with_body(BODY);
    let stream = frame.to_bytes(Version::V12).repeat(10_000);
    measure("decode a SEND with 2 headers and 190 octets", 10_000, || {
        let mut decoder = Decoder::new(Limits::default());
        decoder.agree_on(Version::V12);
        for mut piece in stream.chunks(4_096) {
            while let Some(frame) = decoder.decode(&mut piece).expect("a frame") {
                black_box(frame);
            }
        }
    });
}

fn encode() {
    let (topic, headers) = (topic(12), headers());
    measure("encode the shared tail of a MESSAGE", 10_000, || {
        (0..10_000).for_each(|id| drop(black_box(Message::new(id, &topic, &headers, BODY))));
    });
}

/// A connection with one subscription.
struct Client {
    session: Session,
    lanes: Lanes,
}

impl Client {
    fn new(lanes: Lanes) -> Self {
        let mut session = Session::new(Time(0), "1".to_owned(), Arc::new(Rules::new("bench")));
        let mut actions = Vec::new();
        session.receive(Time(0), b"CONNECT\naccept-version:1.2\n\n\0", &mut actions);
        let all = vec![Pattern::parse("/topic/>").expect("a pattern")];
        session.admit(Time(0), Arc::new(Rights { subscribe: all, ..Rights::default() }), &mut actions);
        session.receive(Time(0), b"SUBSCRIBE\nid:sub-0\ndestination:/topic/tick.*\n\n\0", &mut actions);
        session.subscriptions().hear(SubscriptionKey(1), 0, false);
        Self { session, lanes }
    }
}

/// From the encoded message to the slices of every subscriber's write.
fn fan_out(subscribers: u32) {
    let mut tree = TopicTree::default();
    let pattern = Pattern::parse("/topic/tick.*").expect("a pattern");
    let mut clients: Vec<Client> = (0..subscribers).map(|_| Client::new(Lanes::free())).collect();
    (0..clients.len()).for_each(|client| assert!(tree.subscribe(&pattern, client)));
    let topics: Vec<Destination> = (0..100).map(topic).collect();
    let message = Arc::new(Message::new(1, &topics[12], &headers(), BODY));
    let (mut batch, mut incoming) = (Batch::default(), Incoming::default());
    let rounds = 1_000_000 / subscribers;
    measure(&format!("match, queue and drain, {subscribers} subscribers, per delivery"), rounds * subscribers, || {
        for topic in topics.iter().cycle().take(rounds as usize) {
            for client in tree.listeners(topic) {
                let Client { session, lanes } = &mut clients[client];
                incoming.broadcast(broadcast(&message));
                lanes.take(&mut incoming);
                lanes.drain(Time(0), 65_536, session.subscriptions(), &mut batch);
                black_box(batch.slices().map(<[u8]>::len).sum::<usize>());
                batch.clear();
            }
        }
    });
}

fn broadcast(message: &Arc<Message>) -> Broadcast {
    Broadcast { message: message.clone(), number: 1, own: false, apart: false }
}

/// Ten thousand topics with a subscriber of their own each.
fn exact_subscriptions() {
    let mut tree = TopicTree::default();
    for number in 0..10_000 {
        tree.subscribe(&Pattern::parse(topic(number).text()).expect("a pattern"), number);
    }
    let topics: Vec<Destination> = (0..10_000).map(topic).collect();
    measure("match one of 10000 topics with one subscriber", 10_000, || {
        for topic in &topics {
            black_box(tree.listeners(topic).count());
        }
    });
}

/// A busy feed on a throttled connection: most values replace one that waits.
fn throttled_offers() {
    let mut client = Client::new(Lanes::throttled(Rate::per_second(50).expect("a rate")));
    let message = Arc::new(Message::new(1, &topic(12), &headers(), BODY));
    let (mut batch, mut incoming) = (Batch::default(), Incoming::default());
    let mut now = 0;
    measure("offer to a throttle with 1000 busy topics", 1_000_000, || {
        for event in 0..1_000_000_u64 {
            incoming.price(TopicId(event * 7 % 1_000), broadcast(&message), Pace::Busy);
            client.lanes.take(&mut incoming);
            now += 200_000;
            if event % 100 == 0 {
                client.lanes.drain(Time(now), 65_536, client.session.subscriptions(), &mut batch);
                batch.clear();
            }
        }
    });
}
