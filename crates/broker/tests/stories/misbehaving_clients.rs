use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use broker::{BrokerLimits, StallLimits};
use domain::Event;
use domain::event::{Alarm, AlarmLevel};
use expect_test::expect;

use crate::harness::{BrokerHarness, tick};
use crate::test_client::{TestStompClient, connect};
use crate::websocket::{BINARY, WebSocket};

fn long_alarm() -> Event {
    let text = "x".repeat(16 * 1_024);
    Event::Alarm(Arc::new(Alarm { level: AlarmLevel::Warn, code: "story".into(), text: text.into() }))
}

#[test]
fn garbage_costs_only_its_sender() {
    let broker = BrokerHarness::open();
    let mut honest = TestStompClient::open_connected(broker.tcp);
    honest.subscribe(1, "/topic/log-event.>", "");
    let long_header = format!("CONNECT\nx:{}\n\n\0", "y".repeat(20_000));
    let garbage: [&[u8]; 5] =
        [b"\x00\xff\xfe", b"GET / HTTP/1.1\r\n\r\n\0", b"connect\n\n\0", b"SEND\n\n\0", long_header.as_bytes()];
    for (number, bytes) in (1..).zip(garbage) {
        let mut stream = connect(broker.tcp);
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        // A long line may be cut while it is still being sent.
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.starts_with("ERROR\n"), "{number}: {answer}");
        broker.publish_warning(number);
        assert!(honest.frame().contains(&format!("sequence:{number}\n")));
    }
}

#[test]
fn a_disconnect_in_the_middle_of_a_frame_leaves_nothing_behind() {
    let broker = BrokerHarness::open();
    for _ in 0..20 {
        let mut client = TestStompClient::open_connected(broker.tcp);
        client.subscribe(1, "/topic/>", "");
        client.stream.write_all(b"SUBSCRIBE\nid:2\ndest").unwrap();
    }
    let mut honest = TestStompClient::open_connected(broker.tcp);
    honest.subscribe(1, "/topic/log-event.>", "");
    // Each event wakes those that are still there.
    let mut sequence = 0;
    while broker.broker.metrics().connections > 1 {
        sequence += 1;
        broker.publish_warning(sequence);
        assert!(honest.frame().contains(&format!("sequence:{sequence}\n")));
    }
}

#[test]
fn a_slow_consumer_of_reliable_messages_is_disconnected_and_others_are_not() {
    let patience = StallLimits { stall: Duration::from_millis(500), ..StallLimits::default() };
    let broker =
        BrokerHarness::open_within(BrokerLimits { stall_limits: patience, ..BrokerLimits::default() }, &[], None);
    let (mut honest, mut lazy) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    honest.subscribe(1, "/topic/log-event.>", "");
    lazy.subscribe(1, "/topic/log-event.>", "");
    let (mut sequence, mut warnings) = (0, Vec::new());
    let mut hear_one_more = || {
        sequence += 1;
        broker.publish(sequence, long_alarm());
        let frames = std::iter::repeat_with(|| honest.frame());
        let warned = frames.take_while(|frame| !frame.contains(r#""logger":"engine""#));
        warnings.extend(warned.map(|frame| frame.split_once("\n\n").unwrap().1.to_owned()));
        assert!(sequence < 100_000, "a client that reads nothing is still there");
    };
    while broker.broker.metrics().connections > 1 {
        hear_one_more();
    }
    hear_one_more();
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    expect![[r#"{"dateTime":1794839400000,"level":"WARN","logger":"broker.slow-consumer","message":"session rialto-2 of an anonymous client is a slow consumer: it reads nothing and may be disconnected","exceptionClass":null,"exceptionMessage":null}"#]].assert_eq(warning);
    let numbers = broker.broker.metrics();
    assert_eq!((numbers.slow_consumers, numbers.slow_disconnects), (1, 1));
    assert!(numbers.dropped > 0, "{numbers:?}");
    let mut heard = Vec::new();
    // The server may have cut the connection in the end.
    let _ = lazy.stream.read_to_end(&mut heard);
    // What the system had taken was not taken back.
    assert!(heard.len() > 60_000, "{}", heard.len());
}

#[test]
fn a_slow_consumer_of_prices_gets_the_newest_in_the_end() {
    let broker = BrokerHarness::open();
    let (mut lazy, mut witness) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    lazy.subscribe(1, "/topic/tick.>", "");
    witness.subscribe(1, "/topic/log-event.>", "");
    for sequence in 1..=30_000 {
        broker.publish(sequence, tick(sequence % 10, i64::try_from(sequence).unwrap()));
        if sequence % 1_000 == 0 {
            broker.publish_warning(sequence);
            assert!(witness.frame().contains(&format!("sequence:{sequence}\n")));
        }
    }
    let mut last = std::collections::BTreeMap::new();
    while last.values().filter(|sequence| **sequence > 29_990).count() < 10 {
        let frame = lazy.frame();
        let value = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        let before = last.insert(value("destination:"), value("sequence:").parse::<u64>().unwrap());
        assert!(before < last.get(&value("destination:")).copied());
    }
    let numbers = broker.broker.metrics();
    assert!(numbers.conflated > 0, "{numbers:?}");
    assert_eq!((numbers.dropped, numbers.slow_consumers, numbers.slow_disconnects), (0, 0, 0));
}

#[test]
fn a_client_that_floods_and_reads_no_answers_is_disconnected_and_others_are_not() {
    let broker = BrokerHarness::open();
    let mut honest = TestStompClient::open_connected(broker.tcp);
    honest.subscribe(1, "/topic/log-event.>", "");
    let mut flood = TestStompClient::open_connected(broker.tcp);
    let frames = "SUBSCRIBE\nid:1\ndestination:/topic/tick.1\nreceipt:r\n\n\0UNSUBSCRIBE\nid:1\nreceipt:r\n\n\0";
    let mut sequence = 0;
    // Ends when the server has closed.
    while flood.stream.write_all(frames.repeat(1_000).as_bytes()).is_ok() {
        sequence += 1;
        broker.publish_warning(sequence);
        assert!(honest.frame().contains(&format!("sequence:{sequence}\n")));
        assert!(sequence < 10_000, "a client that reads no answers is still there");
    }
    broker.wait_for(|numbers| numbers.slow_disconnects == 1);
    broker.publish_warning(sequence + 1);
    assert!(honest.frame().contains(&format!("sequence:{}\n", sequence + 1)));
}

#[test]
fn frames_that_are_too_large_are_not_even_read() {
    let broker = BrokerHarness::open();
    let many_headers = format!("SEND\n{}\n\0", "a:b\n".repeat(1_001));
    let long_headers = format!("SEND\n{}\n\0", format!("a:{}\n", "b".repeat(9_000)).repeat(8));
    for (frame, reason) in [
        ("SEND\ndestination:/topic/a\ncontent-length:1048577\n\n", "the body is longer than 1048576 octets"),
        (&many_headers, "the frame has more than 1000 headers"),
        (&long_headers, "the headers are longer than 65536 octets"),
        (&"x".repeat(2_000), "the command line is longer than 1024 octets"),
    ] {
        let mut client = if frame.starts_with("SEND") {
            TestStompClient::open_connected(broker.tcp)
        } else {
            TestStompClient::open(broker.tcp)
        };
        client.stream.write_all(frame.as_bytes()).unwrap();
        let words = client.read_to_end();
        assert!(words.starts_with(&format!("ERROR\nmessage:{reason}\n")), "{words}");
    }
}

#[test]
fn garbage_in_a_websocket_costs_only_that_one() {
    let broker = BrokerHarness::open();
    let mut honest = TestStompClient::new_over(WebSocket::at(broker.ws));
    honest.send_connect();
    honest.subscribe(1, "/topic/log-event.>", "");
    for (number, garbage) in (1..).zip([&b"\xff\xfe"[..], b"nonsense\n\n\0", b"CONNECT\nno colon\n\n\0"]) {
        let mut bad = TestStompClient::new_over(WebSocket::at(broker.ws));
        bad.stream.send(BINARY, garbage);
        bad.stream.send(BINARY, b"\n\n\0");
        let words = bad.read_to_end();
        assert!(words.starts_with("ERROR\n"), "{words}");
        assert_eq!(bad.stream.closed_with, Some(1002));
        broker.publish_warning(number);
        assert!(honest.frame().contains(&format!("sequence:{number}\n")));
    }
}

#[test]
fn heart_beats_are_kept_and_expected() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::open(broker.tcp);
    client.send("CONNECT\naccept-version:1.2\nhost:desk\nheart-beat:1500,500\n\n");
    assert!(client.frame().contains("\nheart-beat:500,1500\n"));
    let words = client.read_to_end_with_heart_beats();
    assert!(words.starts_with("\n\n"), "the end of CONNECTED and a heart-beat come first: {words}");
    assert!(words.contains("ERROR\nmessage:nothing was heard for "), "{words}");
}

#[test]
fn a_client_that_is_not_read_is_not_silent() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::open(broker.tcp);
    client.send("CONNECT\naccept-version:1.2\nhost:desk\nheart-beat:500,500\n\n");
    assert!(client.frame().starts_with("CONNECTED\n"));
    let engine = broker.engine.lock().unwrap();
    client.send("SEND\ndestination:/topic/generic-event.MOMENTUM.x\nreceipt:r\n\n1");
    // Ten heart-beats of the server are longer than any silence it bears.
    for _ in 0..10 {
        assert_eq!(client.heart_beat(), "\n");
    }
    drop(engine);
    assert_eq!(client.frame(), "RECEIPT\nreceipt-id:r\n\n");
}
