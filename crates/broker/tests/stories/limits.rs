use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use broker::{BrokerLimits, WEBSOCKET_CONNECT_BYTES_MAX, WEBSOCKET_MESSAGE_BYTES_MAX};
use bus::operations::LogLine;
use domain::Timestamp;

use crate::harness::{BrokerHarness, tick};
use crate::test_client::{TestStompClient, connect};
use crate::transports::certificate;
use crate::websocket::{PONG, TEXT, WebSocket};

const SOON: Duration = Duration::from_millis(300);

#[test]
fn one_connection_too_many_is_rejected_at_every_port_until_another_one_ends() {
    let broker = BrokerHarness::open_within(BrokerLimits { connections: 3, ..BrokerLimits::default() }, &[], None);
    let (first, _second) = (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    // A WebSocket needs one permit; without a login it is evicted for the next connection.
    let _websocket = WebSocket::open(broker.ws, &format!("Host: {}\r\n", broker.ws)).unwrap();
    let _third = when_there_is_a_place(&broker);
    for door in [broker.tcp, broker.ws] {
        assert_eq!(connect(door).read(&mut [0]).unwrap_or(0), 0, "closed without a word");
    }
    drop(first);
    broker.wait_for_connections(2);
    when_there_is_a_place(&broker);
}

/// A permit is released a moment after its connection has ended.
fn when_there_is_a_place(broker: &BrokerHarness) -> TcpStream {
    let greet = || {
        let mut stream = connect(broker.tcp);
        stream.write_all(b"CONNECT\naccept-version:1.2\nhost:desk\n\n\0").ok()?;
        stream.read_exact(&mut [0; 9]).ok()?;
        Some(stream)
    };
    std::iter::repeat_with(greet).take(100_000).flatten().next().expect("a place is free again")
}

#[test]
fn a_silent_connection_is_closed_at_every_port() {
    let limits =
        BrokerLimits { connect_wait: SOON, handshake_wait: SOON, upgrade_wait: SOON, ..BrokerLimits::default() };
    let silent = |broker: &BrokerHarness, door| {
        let mut heard = String::new();
        let _ = connect(door).read_to_string(&mut heard);
        broker.wait_for_connections(0);
        heard
    };
    let broker = BrokerHarness::open_within(limits.clone(), &[], None);
    let words = silent(&broker, broker.tcp);
    assert!(words.starts_with("ERROR\nmessage:no CONNECT arrived in time\n"), "{words}");
    assert_eq!(silent(&broker, broker.ws), "");
    let secure = BrokerHarness::open_within(limits, &[], Some(certificate().1));
    // The protocol of an ERROR is not known yet here.
    assert_eq!([silent(&secure, secure.tcp), silent(&secure, secure.tls)], ["", ""]);
    // This one has requested the upgrade, which has its own time-out.
    let broker = BrokerHarness::open_within(BrokerLimits { connect_wait: SOON, ..BrokerLimits::default() }, &[], None);
    let mut websocket = TestStompClient::new_over(WebSocket::at(broker.ws));
    assert!(websocket.read_to_end().starts_with("ERROR\nmessage:no CONNECT arrived in time\n"));
    assert_eq!(websocket.stream.closed_with, Some(1008));
}

#[test]
fn a_websocket_is_asked_whether_it_is_there_and_its_answer_counts_as_a_heart_beat() {
    let limits = BrokerLimits { ping_every: SOON, ..BrokerLimits::default() };
    let broker = BrokerHarness::open_within(limits, &[], None);
    let mut client = TestStompClient::new_over(WebSocket::at(broker.ws));
    client.send("CONNECT\naccept-version:1.2\nhost:desk\nheart-beat:1000,0\n\n");
    assert!(client.frame().contains("\nheart-beat:0,1000\n"));
    // Three intervals of silence are allowed; these pings last longer.
    for _ in 0..12 {
        client.stream.wait_for_ping();
        client.stream.send(PONG, b"");
    }
    client.subscribe(1, "/topic/log-event.>", "");
    let words = client.read_to_end();
    assert!(words.starts_with("ERROR\nmessage:nothing was heard for "), "without answers it ends: {words}");
    assert_eq!(client.stream.closed_with, Some(1008));
}

#[test]
fn a_message_of_a_websocket_that_is_too_long_ends_it_before_it_is_read() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::new_over(WebSocket::at(broker.ws));
    client.send_connect();
    client.stream.announce(TEXT, WEBSOCKET_MESSAGE_BYTES_MAX as u64 + 1);
    client.stream.wait_for_end();
    broker.wait_for_connections(0);
}

#[test]
fn a_websocket_that_has_not_logged_in_sends_only_small_messages() {
    let broker = BrokerHarness::open();
    let mut long = TestStompClient::new_over(WebSocket::at(broker.ws));
    long.stream.announce(TEXT, WEBSOCKET_CONNECT_BYTES_MAX as u64 + 1);
    // The same in pieces, none of which is long.
    let mut pieces = TestStompClient::new_over(WebSocket::at(broker.ws));
    for number in 0..=WEBSOCKET_CONNECT_BYTES_MAX / 100 {
        let kind = if number == 0 { TEXT } else { 0 };
        pieces.stream.send_raw(&[&[kind, 0x80 | 100, 0, 0, 0, 0][..], &[b'x'; 100]].concat());
    }
    for caller in [&mut long, &mut pieces] {
        let words = caller.read_to_end();
        assert!(words.starts_with("ERROR\nmessage:a message of the WebSocket is too long\n"), "{words}");
        assert_eq!(caller.stream.closed_with, Some(1009));
    }
    let mut client = TestStompClient::new_over(WebSocket::at(broker.ws));
    client.send_connect();
    let note = format!("note:{}\n", "y".repeat(9_000)).repeat(4);
    let frame = format!("SUBSCRIBE\nid:1\ndestination:/topic/order.a.b\n{note}receipt:r\n\n\0");
    client.stream.announce(TEXT, frame.len() as u64);
    client.stream.send_raw(frame.as_bytes());
    assert_eq!(client.frame(), "RECEIPT\nreceipt-id:r\n\n");
}

#[test]
fn when_the_broker_falls_behind_the_engine_all_clients_get_an_error_and_reconnect() {
    let broker = BrokerHarness::open_within(BrokerLimits { events: 16, ..BrokerLimits::default() }, &[], None);
    let mut tcp = TestStompClient::open_connected(broker.tcp);
    let mut websocket = TestStompClient::new_over(WebSocket::at(broker.ws));
    websocket.send_connect();
    tcp.subscribe(1, "/topic/tick.>", "");
    websocket.subscribe(1, "/topic/tick.>", "");
    let is_told = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Until a client is informed that the broker fell behind the feed.
            (1..)
                .take_while(|_| !is_told.load(Ordering::Relaxed))
                .for_each(|sequence| broker.publish(sequence, tick(7, 1)));
        });
        let words = tcp.read_to_end();
        is_told.store(true, Ordering::Relaxed);
        assert!(words.contains("ERROR\nmessage:events were lost; reconnect and request a snapshot\n"));
    });
    assert!(websocket.read_to_end().contains("ERROR\nmessage:events were lost"));
    assert_eq!(websocket.stream.closed_with, Some(1013));
    assert!(once_it_has_caught_up(&broker, 1_000_000).contains("\nsequence:1000000\n"));
}

/// The first event after the feed has calmed down. The broker may have fallen behind once more before, and the first
/// event afterwards may exceed its queue; each time all clients get an error and reconnect.
fn once_it_has_caught_up(broker: &BrokerHarness, sequence: u64) -> String {
    let mut heard = std::iter::repeat_with(|| hear(broker, sequence)).take(3);
    heard.find(|frame| !frame.starts_with("ERROR\nmessage:events were lost")).expect("the third time it has caught up")
}

/// Connects, subscribes, and returns the first event, or the ERROR of the broker.
fn hear(broker: &BrokerHarness, sequence: u64) -> String {
    let mut client = TestStompClient::open(broker.tcp);
    client.send("CONNECT\naccept-version:1.2\nhost:desk\n\n");
    client.send("SUBSCRIBE\nid:1\ndestination:/topic/log-event.>\nreceipt:s1\n\n");
    for _ in ["CONNECTED", "RECEIPT"] {
        let frame = client.frame();
        if frame.starts_with("ERROR\n") {
            return frame;
        }
    }
    broker.publish_warning(sequence);
    client.frame()
}

#[test]
fn of_too_many_lines_of_the_log_the_count_is_published() {
    const LINES: u64 = 2_000;
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/log-event.>", "");
    for number in 0..LINES {
        // Lines without a topic are neither published nor counted.
        for (level, message) in [("DEBUG", "secret".to_owned()), ("INFO", format!("line {number}"))] {
            let line = LogLine { at: Timestamp(0), level, logger: "storage".into(), message, error: None };
            broker.log.blocking_send(line).unwrap();
        }
    }
    let (mut told, mut untold) = (0, 0);
    while told + untold < LINES {
        let frame = client.frame();
        match frame.split_once(r#""message":""#).unwrap().1.split_once(" more lines") {
            Some((count, _)) => untold += count.parse::<u64>().unwrap(),
            None => told += 1,
        }
    }
    assert_eq!(told + untold, LINES);
    assert!(untold > 0, "all {told} were told");
}

#[test]
fn of_unauthenticated_connections_the_oldest_is_evicted_and_authenticated_ones_stay() {
    let broker = BrokerHarness::open_within(BrokerLimits { unauthenticated: 3, ..BrokerLimits::default() }, &[], None);
    let mut inside = TestStompClient::open_connected(broker.tcp);
    let mut callers: Vec<_> = (0..3).map(|_| TestStompClient::open(broker.tcp)).collect();
    broker.wait_for_connections(4);
    let mut newcomer = TestStompClient::open_connected(broker.tcp);
    let words = callers[0].read_to_end();
    assert!(words.starts_with("ERROR\nmessage:too many unauthenticated connections; reconnect\n"), "{words}");
    // The others may still log in.
    callers.drain(1..).for_each(|mut caller| caller.send_connect());
    for client in [&mut inside, &mut newcomer] {
        client.subscribe(1, "/topic/order.>", "");
    }
}

#[test]
fn one_address_has_not_all_places() {
    let limits = BrokerLimits { connections_per_local_address: 2, ..BrokerLimits::default() };
    let broker = BrokerHarness::open_within(limits, &[], None);
    let _held = [TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp)];
    assert_eq!(connect(broker.tcp).read(&mut [0]).unwrap_or(0), 0, "closed without a word");
}
