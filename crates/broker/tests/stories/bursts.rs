//! Bursts: many events at once, and clients that subscribe to the same a thousand times.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use broker::{BrokerLimits, StallLimits};
use domain::Event;
use domain::event::{Alarm, AlarmLevel};

use crate::harness::{BrokerHarness, tick};
use crate::test_client::TestStompClient;
use crate::websocket::WebSocket;

/// More than three times what may be queued for a stalled client.
const BURST: u64 = 4_000;
/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3_600);

fn alarm(octets: usize) -> Event {
    let text = "x".repeat(octets);
    Event::Alarm(Arc::new(Alarm { level: AlarmLevel::Warn, code: "story".into(), text: text.into() }))
}

/// Eight connections subscribe a thousand times each to everything, read nothing and leave. Meanwhile prices and alarms
/// are published, a client connects, and a subscriber receives every alarm.
#[test]
fn clients_that_ask_for_everything_a_thousand_times_hold_up_nobody() {
    let broker = BrokerHarness::open();
    let mut ordinary = TestStompClient::open_connected(broker.tcp);
    ordinary.subscribe(1, "/topic/log-event.>", "");
    let greedy: Vec<_> = (0..8).map(|_| ask_a_thousand_times(&broker)).collect();
    assert_eq!(broker.broker.metrics().subscriptions, 8_001);
    assert_eq!(broker.broker.metrics().patterns, 2);
    let mut hear = |alarms: std::ops::Range<u64>| {
        for sequence in alarms {
            (0..20).for_each(|security| broker.publish(sequence, tick(security, 1)));
            broker.publish_warning(sequence);
            assert!(ordinary.frame().contains(&format!("number {sequence}\"")), "{sequence}");
        }
    };
    hear(1..100);
    drop(greedy);
    hear(100..200);
    TestStompClient::open_connected(broker.tcp).subscribe(1, "/topic/order.>", "");
    let left = broker.wait_for_connections(1);
    assert_eq!((left.subscriptions, left.patterns), (1, 1));
}

/// The last RECEIPT comes before any message, because nothing is published yet.
fn ask_a_thousand_times(broker: &BrokerHarness) -> TestStompClient<std::net::TcpStream> {
    let mut client = TestStompClient::open_connected(broker.tcp);
    for id in 1..1_000 {
        client.send(&format!("SUBSCRIBE\nid:{id}\ndestination:/topic/>\n\n"));
    }
    client.subscribe(1_000, "/topic/>", "");
    client
}

#[test]
fn every_subscription_of_a_client_receives_a_message_once() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/log-event.>", "");
    client.subscribe(2, "/topic/>,/topic/log-event.*,/topic/*.warn", "");
    client.subscribe(3, "/topic/log-event.>", "");
    let mut hear = || client.frame().lines().nth(1).unwrap_or_default().to_owned();
    broker.publish_warning(1);
    assert_eq!([hear(), hear(), hear()], ["subscription:1", "subscription:2", "subscription:3"]);
    client.send("UNSUBSCRIBE\nid:1\nreceipt:u\n\n");
    assert_eq!(client.frame(), "RECEIPT\nreceipt-id:u\n\n");
    broker.publish_warning(2);
    let mut hear = || client.frame().lines().nth(1).unwrap_or_default().to_owned();
    assert_eq!([hear(), hear()], ["subscription:2", "subscription:3"]);
}

#[test]
fn a_burst_that_is_read_disconnects_no_client_over_tcp_and_websocket() {
    // On a busy machine a client that has read everything, and one that waits for its turn, make no progress for a
    // while.
    let patience = StallLimits { stall: LONG, wait: LONG, ..StallLimits::default() };
    let broker =
        BrokerHarness::open_within(BrokerLimits { stall_limits: patience, ..BrokerLimits::default() }, &[], None);
    let mut tcp = TestStompClient::open_connected(broker.tcp);
    let mut websocket = TestStompClient::new_over(WebSocket::at(broker.ws));
    websocket.send_connect();
    hear_a_burst(&broker, &mut tcp);
    hear_a_burst(&broker, &mut websocket);
    let numbers = broker.broker.metrics();
    assert_eq!((numbers.slow_disconnects, numbers.dropped), (0, 0));
}

fn hear_a_burst<S: Read + Write>(broker: &BrokerHarness, client: &mut TestStompClient<S>) {
    client.subscribe(1, "/topic/log-event.>", "");
    (1..=BURST).for_each(|sequence| broker.publish(sequence, alarm(1_024)));
    for sequence in 1..=BURST {
        assert!(client.frame().contains(&format!("sequence:{sequence}\n")), "{sequence}");
    }
}

#[test]
fn a_client_that_stops_reading_in_a_burst_gets_an_error_and_is_disconnected() {
    let patience = StallLimits { stall: Duration::from_millis(300), ..StallLimits::default() };
    let broker =
        BrokerHarness::open_within(BrokerLimits { stall_limits: patience, ..BrokerLimits::default() }, &[], None);
    let mut lazy = TestStompClient::open_connected(broker.tcp);
    lazy.subscribe(1, "/topic/log-event.>", "");
    (1..=BURST).for_each(|sequence| broker.publish(sequence, alarm(1_024)));
    let numbers = broker.wait_for_connections(0);
    // Its queued messages are dropped, and all clients were informed of its end before.
    assert_eq!((numbers.slow_consumers, numbers.slow_disconnects, numbers.queue_bytes), (1, 1, 0));
    assert!(numbers.dropped > 0, "{numbers:?}");
    let words = "slow consumer, nothing was read for 0.3 s while more than 1048576 octets wait";
    assert_told_or_cut(&mut lazy, words);
}

/// A client that reads too late is disconnected before the final frame reaches it.
fn assert_told_or_cut(lazy: &mut TestStompClient<std::net::TcpStream>, words: &str) {
    let mut heard = Vec::new();
    let _ = lazy.stream.read_to_end(&mut heard);
    let heard = String::from_utf8_lossy(&heard);
    assert!(heard.contains(words) || !heard.contains("ERROR"), "{:?}", heard.split_once("ERROR"));
}

#[test]
fn over_the_memory_budget_stalled_clients_are_disconnected_and_readers_stay() {
    // However slow the machine is, the budget ends this one.
    let patience = StallLimits { stall: LONG, wait: LONG, ..StallLimits::default() };
    let limits = BrokerLimits { waiting_bytes: 16 << 20, stall_limits: patience, ..BrokerLimits::default() };
    let broker = BrokerHarness::open_within(limits, &[], None);
    let (mut honest, mut lazy) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    honest.subscribe(1, "/topic/log-event.>", "");
    lazy.subscribe(1, "/topic/log-event.>", "");
    let mut sequence = 0;
    while broker.broker.metrics().connections == 2 {
        sequence += 1;
        broker.publish(sequence, alarm(16 * 1_024));
        assert!(honest.frame().contains(&format!("sequence:{sequence}\n")));
        assert!(sequence < 10_000, "a client for which 16 MiB wait is still there");
    }
    assert_told_or_cut(&mut lazy, "slow consumer, more than 16777216 octets wait for all clients, most of them here");
}

#[test]
fn a_client_that_has_not_logged_in_may_send_little() {
    let broker = BrokerHarness::open();
    let answer = |frame: &str| {
        let mut client = TestStompClient::open(broker.tcp);
        client.stream.write_all(frame.as_bytes()).unwrap();
        client.read_to_end().lines().nth(1).unwrap_or_default().to_owned()
    };
    let long = format!("CONNECT\nx:{}\n\n\0", "y".repeat(4_096));
    let many = format!("CONNECT\n{}\n\0", "x:y\n".repeat(65));
    assert_eq!(answer("CONNECT\ncontent-length:1048576\n\n"), "message:the body is longer than 64 octets");
    assert_eq!(answer(&long), "message:a header line is longer than 4096 octets");
    assert_eq!(answer(&many), "message:the frame has more than 64 headers");
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.send(&format!("SUBSCRIBE\nid:1\ndestination:/topic/order.a.b\nnote:{}\nreceipt:r\n\n", "y".repeat(8_000)));
    assert_eq!(client.frame(), "RECEIPT\nreceipt-id:r\n\n");
}

#[test]
fn a_destination_has_a_bounded_length_and_depth() {
    let broker = BrokerHarness::open();
    let refused = |destination: &str| {
        let mut client = TestStompClient::open_connected(broker.tcp);
        client.send(&format!("SUBSCRIBE\nid:1\ndestination:{destination}\n\n"));
        client.read_to_end().lines().nth(1).unwrap_or_default().to_owned()
    };
    let deep = format!("/topic/a{}", ".a".repeat(32));
    let many = vec!["/topic/a"; 101].join(",");
    assert_eq!(refused(&deep), "message:the destination has more than 32 segments");
    assert_eq!(refused(&format!("/topic/{}", "x".repeat(1_018))), "message:the destination is longer than 1024 octets");
    assert_eq!(refused(&many), "message:one SUBSCRIBE joins at most 100 destinations");
    let mut client = TestStompClient::open_connected(broker.tcp);
    for id in 1..=20 {
        client.subscribe(id, &vec!["/topic/order.a.b"; 100].join(","), "");
    }
    client.send("SUBSCRIBE\nid:21\ndestination:/topic/order.a.b\n\n");
    assert!(client.read_to_end().contains("message:a connection subscribes to at most 2000 destinations\n"));
}
