use access::UserRole;

use crate::harness::{BrokerHarness, tick};
use crate::test_client::TestStompClient;
use crate::websocket::WebSocket;

fn join<S: std::io::Read + std::io::Write>(stream: S, token: &str) -> TestStompClient<S> {
    let mut client = TestStompClient::new_over(stream);
    client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\nlogin:x\npasscode:{token}\n\n"));
    assert!(client.frame().starts_with("CONNECTED\n"));
    client
}

fn momentum() -> UserRole {
    UserRole::Strategy("MOMENTUM".into())
}

#[test]
fn a_strategy_receives_every_price_and_event_on_the_shared_topics_over_every_port() {
    let broker = BrokerHarness::open();
    let token = broker.token("robot", momentum());
    let mut strategies = [
        TestStompClient::new_over(
            Box::new(join(crate::test_client::connect(broker.tcp), &token).stream) as Box<dyn Stream>
        ),
        TestStompClient::new_over(Box::new(join(WebSocket::at(broker.ws), &token).stream) as Box<dyn Stream>),
    ];
    for strategy in &mut strategies {
        strategy.subscribe(1, "/topic/strategy-bus.>", "");
    }
    // More than the rate of a WebSocket, and all of one security.
    for sequence in 1..=200 {
        broker.publish(sequence, tick(7, i64::try_from(sequence).unwrap()));
    }
    for strategy in &mut strategies {
        for sequence in 1..=200 {
            let frame = strategy.frame();
            assert!(frame.contains("\ndestination:/topic/strategy-bus.market-data\n"), "{frame}");
            assert!(frame.contains(&format!("\nsequence:{sequence}\n")), "{frame}");
            assert!(frame.contains(r#"{"objectType":"Tick","securityId":7,"#), "{frame}");
        }
    }
    let mut sender = TestStompClient::new_over(broker.connect());
    sender.send_connect();
    sender.send("SEND\ndestination:/topic/generic-event.MOMENTUM.fair-value\n\n{\"x\":1}");
    for strategy in &mut strategies {
        let frame = strategy.frame();
        assert!(frame.contains("\ndestination:/topic/strategy-bus.generic-event\n"), "{frame}");
        let body = r#"{"strategyName":"MOMENTUM","name":"fair-value","body":"{\"x\":1}"}"#;
        assert!(frame.ends_with(&format!("\n\n{body}")), "{frame}");
    }
}

/// What a client speaks over.
trait Stream: std::io::Read + std::io::Write {}

impl<T: std::io::Read + std::io::Write> Stream for T {}

#[test]
fn the_bus_matches_no_wildcard_and_only_strategies_may_subscribe_to_it() {
    let broker = BrokerHarness::open();
    broker.add("anna", UserRole::Viewer);
    let mut everything = join(crate::test_client::connect(broker.tcp), &broker.token("boss", UserRole::Admin));
    everything.subscribe(1, "/topic/>", "");
    broker.publish(1, tick(7, 10));
    broker.publish(2, tick(7, 11));
    for sequence in [1, 2] {
        let frame = everything.frame();
        assert!(frame.contains("/topic/tick.7\n") && frame.contains(&format!("sequence:{sequence}\n")), "{frame}");
    }
    let mut trader = join(crate::test_client::connect(broker.tcp), &broker.token("tom", UserRole::Trader));
    trader.send("SUBSCRIBE\nid:1\ndestination:/topic/strategy-bus.market-data\n\n");
    assert!(trader.read_to_end().starts_with("ERROR\nmessage:you may not subscribe to this destination\n"));
    let refused = "tom: STOMP => forbidden-destination (SUBSCRIBE /topic/strategy-bus.market-data)";
    assert_eq!(broker.audit(), [refused]);
}

#[test]
fn commands_of_strategies_bear_their_name_and_answers_reach_only_whom_they_are_for() {
    let broker = BrokerHarness::open();
    let mut server = TestStompClient::new_over(broker.connect());
    server.send_connect();
    server.subscribe(1, "/queue/strategy-bus.commands", "");
    let mut strategy = join(crate::test_client::connect(broker.tcp), &broker.token("robot", momentum()));
    strategy.subscribe(1, "/queue/strategy-bus.MOMENTUM.replies", "");
    strategy.send("SEND\ndestination:/queue/strategy-bus.commands\nstrategy:SERVER\nnumber:1\n\n{}");
    let frame = server.frame();
    let named: Vec<_> = frame.lines().filter(|line| line.starts_with("strategy:")).collect();
    assert_eq!(named, ["strategy:MOMENTUM"], "{frame}");
    assert!(frame.contains("\nnumber:1\n"), "{frame}");
    server.send("SEND\ndestination:/queue/strategy-bus.MOMENTUM.replies\nnumber:1\n\ndone");
    assert!(strategy.frame().ends_with("\n\ndone"));
    strategy.send("SUBSCRIBE\nid:2\ndestination:/queue/strategy-bus.OTHER.replies\n\n");
    assert!(strategy.read_to_end().starts_with("ERROR\nmessage:you may not subscribe to this destination\n"));
}
