//! What a frame and a delivery cost: `cargo run --release -p stomp --example codec_bench`.
//!
//! Each figure is the median of seven rounds. It is for comparing two states of this code on one machine.

#![allow(clippy::disallowed_methods)] // Measuring needs a clock; the crate itself has none.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use stomp::lanes::{Broadcast, FrameBatch, OutboundLanes, PublishQueue, Rate};
use stomp::session::{Permissions, StompRules, SubscriptionKey};
use stomp::topics::{TopicActivity, TopicId, TopicTree};
use stomp::{
    Destination, DestinationPattern, FrameDecoder, FrameLimits, Headers, MonotonicTime, StompMessage, StompSession,
    StompVersion,
};

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
    let frame = stomp::StompFrame::new(stomp::StompCommand::Send)
        .with("destination", "/topic/generic-event.ALPHA.signal")
        .with("content-type", "application/json")
        .with_body(BODY);
    let stream = frame.to_bytes(StompVersion::V12).repeat(10_000);
    measure("decode a SEND with 2 headers and 190 octets", 10_000, || {
        let mut decoder = FrameDecoder::new(FrameLimits::default());
        decoder.set_version(StompVersion::V12);
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
        (0..10_000).for_each(|id| drop(black_box(StompMessage::new(id, &topic, &headers, BODY))));
    });
}

/// A connection with one subscription.
struct Client {
    session: StompSession,
    lanes: OutboundLanes,
}

impl Client {
    fn new(lanes: OutboundLanes) -> Self {
        let mut session = StompSession::new(MonotonicTime(0), "1".to_owned(), Arc::new(StompRules::new("bench")));
        let mut actions = Vec::new();
        session.receive(MonotonicTime(0), b"CONNECT\naccept-version:1.2\n\n\0", &mut actions);
        let all = vec![DestinationPattern::parse("/topic/>").expect("a pattern")];
        session.on_authenticated(
            MonotonicTime(0),
            Arc::new(Permissions { subscribe: all, ..Permissions::default() }),
            &mut actions,
        );
        session.receive(MonotonicTime(0), b"SUBSCRIBE\nid:sub-0\ndestination:/topic/tick.*\n\n\0", &mut actions);
        session.subscriptions().activate(SubscriptionKey(1), 0, false);
        Self { session, lanes }
    }
}

/// From the encoded message to the slices of every subscriber's write.
fn fan_out(subscribers: u32) {
    let mut tree = TopicTree::default();
    let pattern = DestinationPattern::parse("/topic/tick.*").expect("a pattern");
    let mut clients: Vec<Client> = (0..subscribers).map(|_| Client::new(OutboundLanes::unthrottled())).collect();
    (0..clients.len()).for_each(|client| assert!(tree.subscribe(&pattern, client)));
    let topics: Vec<Destination> = (0..100).map(topic).collect();
    let message = Arc::new(StompMessage::new(1, &topics[12], &headers(), BODY));
    let (mut batch, mut incoming) = (FrameBatch::default(), PublishQueue::default());
    let rounds = 1_000_000 / subscribers;
    measure(&format!("match, queue and drain, {subscribers} subscribers, per delivery"), rounds * subscribers, || {
        for topic in topics.iter().cycle().take(rounds as usize) {
            for client in tree.subscribers(topic) {
                let Client { session, lanes } = &mut clients[client];
                incoming.push_broadcast(broadcast(&message));
                lanes.drain_incoming(&mut incoming);
                lanes.drain(MonotonicTime(0), 65_536, session.subscriptions(), &mut batch);
                black_box(batch.slices().map(<[u8]>::len).sum::<usize>());
                batch.clear();
            }
        }
    });
}

fn broadcast(message: &Arc<StompMessage>) -> Broadcast {
    Broadcast { message: message.clone(), number: 1, is_own: false, is_reserved: false }
}

/// Ten thousand topics with a subscriber of their own each.
fn exact_subscriptions() {
    let mut tree = TopicTree::default();
    for number in 0..10_000 {
        tree.subscribe(&DestinationPattern::parse(topic(number).text()).expect("a pattern"), number);
    }
    let topics: Vec<Destination> = (0..10_000).map(topic).collect();
    measure("match one of 10000 topics with one subscriber", 10_000, || {
        for topic in &topics {
            black_box(tree.subscribers(topic).count());
        }
    });
}

/// A busy feed on a throttled connection: most values replace one that waits.
fn throttled_offers() {
    let mut client = Client::new(OutboundLanes::throttled(Rate::per_second(50).expect("a rate")));
    let message = Arc::new(StompMessage::new(1, &topic(12), &headers(), BODY));
    let (mut batch, mut incoming) = (FrameBatch::default(), PublishQueue::default());
    let mut now = 0;
    measure("offer to a throttle with 1000 busy topics", 1_000_000, || {
        for event in 0..1_000_000_u64 {
            incoming.push_price(TopicId(event * 7 % 1_000), broadcast(&message), TopicActivity::Busy);
            client.lanes.drain_incoming(&mut incoming);
            now += 200_000;
            if event % 100 == 0 {
                client.lanes.drain(MonotonicTime(now), 65_536, client.session.subscriptions(), &mut batch);
                batch.clear();
            }
        }
    });
}
