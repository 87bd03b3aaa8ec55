use std::io::{Read, Write};
use std::sync::Arc;

use domain::Event;
use domain::event::{Alarm, AlarmLevel};

use crate::client::{Client, connect};
use crate::desk::{Desk, tick};

fn long_alarm() -> Event {
    let text = "x".repeat(16 * 1_024);
    Event::Alarm(Arc::new(Alarm { level: AlarmLevel::Warn, code: "story".into(), text: text.into() }))
}

#[test]
fn garbage_costs_only_whoever_sends_it() {
    let desk = Desk::open();
    let mut honest = Client::join(desk.tcp);
    honest.subscribe(1, "/topic/log-event.>", "");
    let long_header = format!("CONNECT\nx:{}\n\n\0", "y".repeat(20_000));
    let garbage: [&[u8]; 5] =
        [b"\x00\xff\xfe", b"GET / HTTP/1.1\r\n\r\n\0", b"connect\n\n\0", b"SEND\n\n\0", long_header.as_bytes()];
    for (number, bytes) in (1..).zip(garbage) {
        let mut stream = connect(desk.tcp);
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        // A long line may be cut while it is still being sent.
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.starts_with("ERROR\n"), "{number}: {answer}");
        desk.alarm(number);
        assert!(honest.frame().contains(&format!("sequence:{number}\n")));
    }
}

#[test]
fn who_hangs_up_in_the_middle_of_a_frame_leaves_nothing_behind() {
    let desk = Desk::open();
    for _ in 0..20 {
        let mut client = Client::join(desk.tcp);
        client.subscribe(1, "/topic/>", "");
        client.stream.write_all(b"SUBSCRIBE\nid:2\ndest").unwrap();
    }
    let mut honest = Client::join(desk.tcp);
    honest.subscribe(1, "/topic/log-event.>", "");
    // Each event wakes those that are still there.
    let mut sequence = 0;
    while desk.broker.connections() > 1 {
        sequence += 1;
        desk.alarm(sequence);
        assert!(honest.frame().contains(&format!("sequence:{sequence}\n")));
    }
}

#[test]
fn who_does_not_read_what_must_not_be_lost_is_cut_off_and_others_are_not() {
    let desk = Desk::open();
    let (mut honest, mut lazy) = (Client::join(desk.tcp), Client::join(desk.tcp));
    honest.subscribe(1, "/topic/log-event.>", "");
    lazy.subscribe(1, "/topic/log-event.>", "");
    let mut sequence = 0;
    while desk.broker.connections() > 1 {
        sequence += 1;
        desk.publish(sequence, long_alarm());
        assert!(honest.frame().contains(&format!("sequence:{sequence}\n")));
        assert!(sequence < 10_000, "a client that reads nothing is still there");
    }
    let mut heard = Vec::new();
    // The server may have cut the connection in the end.
    let _ = lazy.stream.read_to_end(&mut heard);
    assert!(heard.len() > 1_000_000, "{}", heard.len());
}

#[test]
fn who_does_not_read_prices_gets_the_newest_in_the_end() {
    let desk = Desk::open();
    let (mut lazy, mut witness) = (Client::join(desk.tcp), Client::join(desk.tcp));
    lazy.subscribe(1, "/topic/tick.>", "");
    witness.subscribe(1, "/topic/log-event.>", "");
    for sequence in 1..=30_000 {
        desk.publish(sequence, tick(sequence % 10, i64::try_from(sequence).unwrap()));
        if sequence % 1_000 == 0 {
            desk.alarm(sequence);
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
}

#[test]
fn heart_beats_are_kept_and_expected() {
    let desk = Desk::open();
    let mut client = Client::dial(desk.tcp);
    client.send("CONNECT\naccept-version:1.2\nhost:desk\nheart-beat:500,500\n\n");
    assert!(client.frame().contains("\nheart-beat:500,500\n"));
    let words = client.rest_with_heart_beats();
    assert!(words.starts_with("\n\n"), "the end of CONNECTED and a heart-beat come first: {words}");
    assert!(words.contains("ERROR\nmessage:nothing was heard for "), "{words}");
}
