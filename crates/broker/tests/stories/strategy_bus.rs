use access::Role;

use crate::client::Client;
use crate::desk::{Desk, tick};
use crate::websocket::WebSocket;

fn join<S: std::io::Read + std::io::Write>(stream: S, token: &str) -> Client<S> {
    let mut client = Client::over(stream);
    client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\nlogin:x\npasscode:{token}\n\n"));
    assert!(client.frame().starts_with("CONNECTED\n"));
    client
}

fn momentum() -> Role {
    Role::Strategy("MOMENTUM".into())
}

#[test]
fn a_strategy_receives_every_price_and_event_on_the_shared_topics_over_every_port() {
    let desk = Desk::open();
    let token = desk.token("robot", momentum());
    let mut strategies = [
        Client::over(Box::new(join(crate::client::connect(desk.tcp), &token).stream) as Box<dyn Stream>),
        Client::over(Box::new(join(WebSocket::at(desk.ws), &token).stream) as Box<dyn Stream>),
    ];
    for strategy in &mut strategies {
        strategy.subscribe(1, "/topic/strategy-bus.>", "");
    }
    // More than the rate of a WebSocket, and all of one security.
    for sequence in 1..=200 {
        desk.publish(sequence, tick(7, i64::try_from(sequence).unwrap()));
    }
    for strategy in &mut strategies {
        for sequence in 1..=200 {
            let frame = strategy.frame();
            assert!(frame.contains("\ndestination:/topic/strategy-bus.market-data\n"), "{frame}");
            assert!(frame.contains(&format!("\nsequence:{sequence}\n")), "{frame}");
            assert!(frame.contains(r#"{"objectType":"Tick","securityId":7,"#), "{frame}");
        }
    }
    let mut sender = Client::over(desk.connect());
    sender.greet();
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
    let desk = Desk::open();
    desk.add("anna", Role::Viewer);
    let mut everything = join(crate::client::connect(desk.tcp), &desk.token("boss", Role::Admin));
    everything.subscribe(1, "/topic/>", "");
    desk.publish(1, tick(7, 10));
    desk.publish(2, tick(7, 11));
    for sequence in [1, 2] {
        let frame = everything.frame();
        assert!(frame.contains("/topic/tick.7\n") && frame.contains(&format!("sequence:{sequence}\n")), "{frame}");
    }
    let mut trader = join(crate::client::connect(desk.tcp), &desk.token("tom", Role::Trader));
    trader.send("SUBSCRIBE\nid:1\ndestination:/topic/strategy-bus.market-data\n\n");
    assert!(trader.rest().starts_with("ERROR\nmessage:you may not subscribe to this destination\n"));
    let refused = "tom: STOMP => forbidden-destination (SUBSCRIBE /topic/strategy-bus.market-data)";
    assert_eq!(desk.audit(), [refused]);
}

#[test]
fn commands_of_strategies_bear_their_name_and_answers_reach_only_whom_they_are_for() {
    let desk = Desk::open();
    let mut server = Client::over(desk.connect());
    server.greet();
    server.subscribe(1, "/queue/strategy-bus.commands", "");
    let mut strategy = join(crate::client::connect(desk.tcp), &desk.token("robot", momentum()));
    strategy.subscribe(1, "/queue/strategy-bus.MOMENTUM.replies", "");
    strategy.send("SEND\ndestination:/queue/strategy-bus.commands\nstrategy:SERVER\nnumber:1\n\n{}");
    let frame = server.frame();
    let named: Vec<_> = frame.lines().filter(|line| line.starts_with("strategy:")).collect();
    assert_eq!(named, ["strategy:MOMENTUM"], "{frame}");
    assert!(frame.contains("\nnumber:1\n"), "{frame}");
    server.send("SEND\ndestination:/queue/strategy-bus.MOMENTUM.replies\nnumber:1\n\ndone");
    assert!(strategy.frame().ends_with("\n\ndone"));
    strategy.send("SUBSCRIBE\nid:2\ndestination:/queue/strategy-bus.OTHER.replies\n\n");
    assert!(strategy.rest().starts_with("ERROR\nmessage:you may not subscribe to this destination\n"));
}
