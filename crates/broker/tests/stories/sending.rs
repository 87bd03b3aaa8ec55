use crate::harness::BrokerHarness;
use crate::test_client::TestStompClient;

#[test]
fn a_generic_event_goes_through_the_engine_to_everybody() {
    let broker = BrokerHarness::open();
    let (mut sender, mut listener) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    listener.subscribe(1, "/topic/generic-event.MOMENTUM.>", "");
    sender.send("SEND\ndestination:/topic/generic-event.MOMENTUM.fair-value\nreceipt:r\n\n{\"x\":1}");
    assert_eq!(sender.frame(), "RECEIPT\nreceipt-id:r\n\n");
    let frame = listener.frame();
    assert!(frame.contains("destination:/topic/generic-event.MOMENTUM.fair-value\n"), "{frame}");
    assert!(frame.contains("\nsequence:1\n") && frame.ends_with("\n\n{\"x\":1}"), "{frame}");
}

#[test]
fn an_event_of_a_strategy_that_does_not_exist_is_refused() {
    let broker = BrokerHarness::open();
    let mut sender = TestStompClient::open_connected(broker.tcp);
    sender.send("SEND\ndestination:/topic/generic-event.NOBODY.x\nreceipt:r\n\n{}");
    let words = sender.read_to_end();
    assert!(words.starts_with("ERROR\nmessage:no strategy of that name exists\n"), "{words}");
    assert!(words.contains("\nreceipt-id:r\n"), "{words}");
}

#[test]
fn a_send_elsewhere_is_an_error_and_stands_in_the_audit() {
    let broker = BrokerHarness::open();
    let mut sender = TestStompClient::open_connected(broker.tcp);
    sender.send("SEND\ndestination:/topic/tick.7\n\n{}");
    let words = sender.read_to_end();
    assert!(words.starts_with("ERROR\nmessage:you may not send to this destination\n"), "{words}");
    assert_eq!(broker.audit(), ["nobody: STOMP => forbidden-destination (SEND /topic/tick.7)"]);
}

#[test]
fn a_topic_of_clients_is_theirs_alone_where_it_is_listed() {
    let broker = BrokerHarness::open_with(&["/topic/chat.>"], None);
    let (mut sender, mut listener) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    listener.subscribe(1, "/topic/chat.>", "");
    sender.subscribe(1, "/topic/chat.>", "activemq.noLocal:true\n");
    sender.send("SEND\ndestination:/topic/chat.desk\ncolour:red\nreceipt:r\n\nhello");
    assert_eq!(sender.frame(), "RECEIPT\nreceipt-id:r\n\n");
    let frame = listener.frame();
    assert!(frame.contains("\ncolour:red\n") && frame.ends_with("\n\nhello"), "{frame}");
    listener.send("SEND\ndestination:/topic/chat.desk\n\nand to you");
    assert!(sender.frame().ends_with("\n\nand to you"));
}

#[test]
fn what_a_transaction_holds_is_sent_on_commit() {
    let broker = BrokerHarness::open();
    let (mut sender, mut listener) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    listener.subscribe(1, "/topic/generic-event.>", "");
    sender.send("BEGIN\ntransaction:t\n\n");
    for name in ["a", "b"] {
        sender.send(&format!("SEND\ntransaction:t\ndestination:/topic/generic-event.MOMENTUM.{name}\n\n1"));
    }
    sender.send("COMMIT\ntransaction:t\nreceipt:r\n\n");
    assert_eq!(sender.frame(), "RECEIPT\nreceipt-id:r\n\n");
    assert!(listener.frame().contains("MOMENTUM.a\n"));
    assert!(listener.frame().contains("MOMENTUM.b\n"));
}

#[test]
fn a_no_local_subscription_receives_only_events_of_others() {
    let broker = BrokerHarness::open();
    let (mut one, mut other) =
        (TestStompClient::open_connected(broker.tcp), TestStompClient::open_connected(broker.tcp));
    one.subscribe(1, "/topic/generic-event.>", "activemq.noLocal:true\n");
    one.subscribe(2, "/topic/strategy-bus.generic-event", "activemq.noLocal:true\n");
    other.subscribe(1, "/topic/generic-event.>", "");
    one.send("SEND\ndestination:/topic/generic-event.MOMENTUM.x\nreceipt:r\n\n1");
    assert_eq!(one.frame(), "RECEIPT\nreceipt-id:r\n\n");
    assert!(other.frame().ends_with("\n\n1"));
    other.send("SEND\ndestination:/topic/generic-event.MOMENTUM.x\n\n2");
    let frames = [one.frame(), one.frame()];
    assert!(frames[0].contains("\nsubscription:1\n") && frames[0].ends_with("\n\n2"), "{frames:?}");
    assert!(frames[1].contains("\nsubscription:2\n") && frames[1].contains(r#""body":"2""#), "{frames:?}");
}

#[test]
fn an_event_that_is_not_json_is_refused() {
    let broker = BrokerHarness::open();
    let mut sender = TestStompClient::open_connected(broker.tcp);
    sender.send("SEND\ndestination:/topic/generic-event.MOMENTUM.x\n\nhello");
    let words = sender.read_to_end();
    let reason = "ERROR\nmessage:the body is not JSON\\c expected value at line 1 column 1\n";
    assert!(words.starts_with(reason), "{words}");
}
