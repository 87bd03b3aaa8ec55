use access::UserRole;

use crate::harness::BrokerHarness;
use crate::test_client::TestStompClient;
use crate::websocket::{TEXT, WebSocket};

/// The ERROR for a SUBSCRIBE with these headers, which ends the connection.
fn refused(broker: &BrokerHarness, headers: &str) -> String {
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.send(&format!("SUBSCRIBE\nid:1\n{headers}\nreceipt:r\n\n"));
    let words = client.read_to_end();
    assert!(words.contains("\nreceipt-id:r\n"), "{words}");
    let told = words.strip_prefix("ERROR\nmessage:").unwrap_or_else(|| panic!("{words}"));
    told.lines().next().unwrap().replace("\\c", ":")
}

#[test]
fn an_unknown_topic_is_rejected_with_a_spelling_suggestion() {
    let broker = BrokerHarness::open();
    let told = |destination: &str| refused(&broker, &format!("destination:{destination}"));
    assert_eq!(told("/topic/ticks.*"), "no topic begins with ticks; did you mean tick?");
    assert_eq!(told("/topic/tick.**"), "/topic/tick.** selects no topic: those of tick are tick.<securityId>");
    assert_eq!(told("/topic/tick.1,/topic/fils.>"), "no topic begins with fils; did you mean fill?");
    let mut client = TestStompClient::open_connected(broker.tcp);
    for (id, destination) in (1..).zip(["/topic/>", "/topic/*.SERVER.*", "/topic/the service.>", "/topic/tick.7"]) {
        client.subscribe(id, destination, "");
    }
}

#[test]
fn what_clients_may_send_to_may_be_listened_to() {
    let broker = BrokerHarness::open_with(&["/topic/weather.>"], None);
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/weather.zurich", "");
    client.send("SEND\ndestination:/topic/weather.zurich\n\nsunny");
    assert!(client.frame().ends_with("\n\nsunny"));
}

#[test]
fn durable_subscriptions_and_selectors_are_refused_with_the_way_to_go() {
    let broker = BrokerHarness::open();
    let told = |header: &str| refused(&broker, &format!("destination:/topic/fill.>\n{header}"));
    let instead = "no subscription outlives its connection here; subscribe with the header from-sequence and the last \
                   event-id or sequence that you have seen, and what was missed is delivered first";
    assert_eq!(told("durable:true"), format!("durable: {instead}"));
    assert_eq!(told("activemq.subscriptionName:desk"), format!("activemq.subscriptionName: {instead}"));
    let selectors = "selectors are not supported: name the topics that you want, also by * and >";
    assert_eq!(told("selector:price > 3"), selectors);
    let bad = "from-sequence is neither a sequence nor the event-id of a message";
    assert_eq!(told("from-sequence:yesterday"), bad);
    let both = "snapshot and from-sequence exclude each other: subscribe twice";
    assert_eq!(told("from-sequence:1\nsnapshot:true"), both);
    let prices = refused(&broker, "destination:/topic/tick.1\nfrom-sequence:1");
    assert!(prices.starts_with("from-sequence: tick is not kept, only its last value"), "{prices}");
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/fill.>", "client-id:desk\ndurable:false\nprefetch-count:5\n");
}

#[test]
fn where_there_are_no_users_any_name_is_as_good_as_none() {
    let broker = BrokerHarness::open();
    let connect = |headers: &str| {
        let mut client = TestStompClient::open(broker.tcp);
        client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\n{headers}\n"));
        client.frame().split('\n').take(2).collect::<Vec<_>>().join(" ")
    };
    let guest = "login:guest\npasscode:guest\n";
    assert_eq!(connect(guest), "CONNECTED version:1.2");
    assert_eq!(connect("login:anna\npasscode:correct horse\n"), "CONNECTED version:1.2");
    // A token is checked, also where there are no users.
    let token = broker.token("feed", UserRole::Viewer);
    assert_eq!(connect(&format!("login:feed\npasscode:{token}\n")), "CONNECTED version:1.2");
    broker.revoke("feed");
    assert!(connect(&format!("login:feed\npasscode:{token}\n")).starts_with("ERROR "));
    broker.add("anna", UserRole::Trader);
    assert!(connect(guest).starts_with("ERROR "));
    assert_eq!(connect("login:anna\npasscode:correct horse\n"), "CONNECTED version:1.2");
}

/// The answer to these bytes: the first line of the ERROR, and the close code.
fn after_fault(broker: &BrokerHarness, bytes: &[u8]) -> (String, Option<u16>) {
    let mut client = TestStompClient::new_over(WebSocket::at(broker.ws));
    client.send_connect();
    client.stream.send_raw(bytes);
    let words = client.read_to_end();
    (words.lines().nth(1).unwrap_or_default().to_owned(), client.stream.closed_with)
}

#[test]
fn a_websocket_error_below_stomp_has_a_close_code() {
    let broker = BrokerHarness::open();
    let broken = ("message:a frame of the WebSocket is broken".to_owned(), Some(1002));
    // A text without a mask, a frame with a reserved bit, one of an unknown opcode.
    for bytes in [&[0x81, 1, b'a'][..], &[0xC1, 0x81, 0, 0, 0, 0, b'a'], &[0x83, 0x81, 0, 0, 0, 0, b'a']] {
        assert_eq!(after_fault(&broker, bytes), broken, "{bytes:?}");
    }
    let not_utf8 = [0x80 | TEXT, 0x82, 0, 0, 0, 0, 0xff, 0xfe];
    assert_eq!(after_fault(&broker, &not_utf8), ("message:a text of the WebSocket is not UTF-8".into(), Some(1007)));
    let too_long = [&[0x80 | TEXT, 0xff][..], &(3_u64 << 20).to_be_bytes(), &[0; 4]].concat();
    assert_eq!(after_fault(&broker, &too_long), ("message:a message of the WebSocket is too long".into(), Some(1009)));
}
