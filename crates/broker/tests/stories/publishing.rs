use std::sync::Arc;

use bus::operations::LogLine;
use domain::{Event, SecurityChange, SecurityId, Timestamp};
use expect_test::expect;

use crate::harness::{BrokerHarness, tick};
use crate::test_client::TestStompClient;

#[test]
fn an_event_reaches_all_subscribers_with_its_sequence() {
    let broker = BrokerHarness::open();
    let (mut first, mut second) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    first.subscribe(1, "/topic/log-event.warn", "");
    second.subscribe(7, "/topic/log-event.>", "");
    broker.publish_warning(42);
    let frame = first.frame();
    expect![[r#"
        MESSAGE
        subscription:1
        destination:/topic/log-event.warn
        message-id:1
        content-type:application/json
        sequence:42
        event-id:42-0
        content-length:122

        {"dateTime":1,"level":"WARN","logger":"engine","message":"story: number 42","exceptionClass":null,"exceptionMessage":null}"#]]
    .assert_eq(&frame);
    assert_eq!(second.frame(), frame.replace("subscription:1", "subscription:7"));
}

/// Each message has one security, whether the list is short or long.
#[test]
fn a_security_that_changed_or_was_removed_has_a_message_of_its_own() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/security.>", "");
    let stock = Arc::new(samples::stock(7, "SEVEN"));
    for (sequence, id, security) in [(41, 7, Some(stock)), (42, 8, None)] {
        let change = SecurityChange { id: SecurityId(id), security };
        broker.publish(sequence, Event::Security(Arc::new(change)));
    }
    let (changed, removed) = (client.frame(), client.frame());
    assert!(changed.contains("destination:/topic/security.7\n") && !changed.contains("event-id"), "{changed}");
    assert!(changed.contains(r#"{"sequence":41,"securityId":7,"security":{"id":7,"#), "{changed}");
    assert!(removed.contains("destination:/topic/security.8\n"), "{removed}");
    assert!(removed.ends_with(r#"{"sequence":42,"securityId":8,"security":null}"#), "{removed}");
}

#[test]
fn the_server_s_own_log_is_a_topic_too() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/log-event.*", "");
    let line = |level, logger: &str| LogLine {
        at: Timestamp(1_000_000),
        level,
        logger: logger.into(),
        message: "the disk is full".into(),
        error: None,
    };
    // Lines of the broker below the level error are not published: the broker would receive them again.
    for (level, logger) in [("DEBUG", "storage"), ("WARN", "broker::doors"), ("ERROR", "storage")] {
        broker.log.blocking_send(line(level, logger)).unwrap();
    }
    let frame = client.frame();
    assert!(frame.contains("destination:/topic/log-event.error\n"), "{frame}");
    assert!(frame.contains(r#""logger":"storage","message":"the disk is full""#), "{frame}");
}

#[test]
fn prices_over_tcp_come_one_by_one_and_stop_after_unsubscribe() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/tick.*", "");
    for bid in 1..=100 {
        broker.publish(bid, tick(7, i64::try_from(bid).unwrap()));
    }
    for bid in 1..=100 {
        let frame = client.frame();
        assert!(frame.contains(&format!("sequence:{bid}\n")) && frame.contains(&format!("\"bid\":{bid},")), "{frame}");
    }
    client.send("UNSUBSCRIBE\nid:1\nreceipt:u\n\n");
    assert_eq!(client.frame(), "RECEIPT\nreceipt-id:u\n\n");
    broker.publish(101, tick(7, 101));
    client.subscribe(2, "/topic/log-event.>", "");
    broker.publish_warning(102);
    assert!(client.frame().contains("sequence:102\n"));
}

#[test]
fn events_that_are_lost_end_connections_with_an_error() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/log-event.>", "");
    // As the feed does with a listener that has fallen behind.
    broker.feed.close();
    let words = client.read_to_end();
    assert!(words.starts_with("ERROR\nmessage:events were lost"), "{words}");
    let mut again = TestStompClient::open_connected(broker.tcp);
    again.subscribe(1, "/topic/log-event.>", "");
    broker.publish_warning(43);
    assert!(again.frame().contains("sequence:43\n"));
}

#[test]
fn all_clients_get_an_error_when_the_server_stops() {
    let mut broker = BrokerHarness::open();
    let mut client = TestStompClient::open_connected(broker.tcp);
    let told = std::thread::spawn(move || client.read_to_end());
    broker.stop();
    let words = told.join().unwrap();
    assert!(words.starts_with("ERROR\nmessage:the server stops\n"), "{words}");
}
