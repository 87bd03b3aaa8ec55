use std::sync::Arc;

use broker::BrokerLimits;
use domain::command::{Mode, StrategyPhase};
use domain::event::{LifeCycle, SessionChange};
use domain::order::{BaseState, ExecType};
use domain::report::SessionState;
use domain::{AdapterName, Event, OrdStatus, OrderStatus, Quantity, Timestamp};

use crate::harness::{BrokerHarness, tick};
use crate::test_client::TestStompClient;

fn sequence_of(frame: &str) -> u64 {
    let line = frame.lines().find_map(|line| line.strip_prefix("sequence:")).unwrap();
    line.parse().unwrap()
}

/// Waits until the broker has processed what was published before.
fn settle(broker: &BrokerHarness, sequence: u64) {
    let mut witness = TestStompClient::open_connected(broker.tcp);
    witness.subscribe(1, "/topic/log-event.>", "");
    broker.publish_warning(sequence);
    assert_eq!(sequence_of(&witness.frame()), sequence);
}

fn phase(strategy: u64, phase: StrategyPhase) -> Event {
    Event::LifeCycle(Arc::new(LifeCycle {
        strategy: domain::StrategyId(strategy),
        mode: Mode::RealTime,
        phase,
        failure: None,
    }))
}

#[test]
fn a_late_subscriber_gets_the_last_value_of_each_topic_and_then_what_follows() {
    let broker = BrokerHarness::open();
    broker.publish(1, tick(7, 10));
    broker.publish(2, tick(7, 11));
    broker.publish(3, tick(8, 20));
    broker.publish(4, phase(1, StrategyPhase::Start));
    broker.publish(5, phase(1, StrategyPhase::Run));
    broker.publish(6, phase(2, StrategyPhase::Run));
    settle(&broker, 7);
    for wish in ["snapshot:true\n", "activemq.retroactive:true\n"] {
        let mut client = TestStompClient::open_connected(broker.tcp);
        client.subscribe(1, "/topic/tick.>", wish);
        let frames = [client.frame(), client.frame()];
        assert!(frames.iter().all(|frame| frame.contains("\nsnapshot:true\n")), "{frames:?}");
        assert_eq!(frames.each_ref().map(|frame| sequence_of(frame)), [2, 3]);
        client.subscribe(2, "/topic/life-cycle.*", wish);
        let frames = [client.frame(), client.frame()];
        assert!(frames.iter().all(|frame| frame.contains("\nsnapshot:true\n")), "{frames:?}");
        // By the number of the strategy: SERVER, then MOMENTUM.
        assert_eq!(frames.each_ref().map(|frame| sequence_of(frame)), [5, 6]);
        broker.publish(8, tick(7, 30));
        let frame = client.frame();
        assert!(!frame.contains("snapshot:"), "{frame}");
        broker.publish(2, tick(7, 11));
        assert_eq!(sequence_of(&client.frame()), 2);
    }
}

fn message_id_of(frame: &str) -> &str {
    frame.lines().find_map(|line| line.strip_prefix("message-id:")).unwrap()
}

#[test]
fn an_event_without_subscribers_is_encoded_on_first_use_and_once_for_all() {
    let broker = BrokerHarness::open();
    for bid in 1..=10 {
        broker.publish(bid, tick(7, 1));
        broker.publish(bid, order(bid, BaseState::New));
        broker.publish(bid, status(bid, OrdStatus::Submitted));
    }
    // Messages are numbered when they are encoded: the first is the one that this wait uses.
    settle(&broker, 11);
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/tick.*", "snapshot:true\n");
    assert_eq!(message_id_of(&client.frame()), "2");
    client.subscribe(2, "/topic/order.SERVER.TEST-3", "snapshot:true\n");
    let first = client.frame();
    assert_eq!((message_id_of(&first), sequence_of(&first)), ("3", 3));
    client.subscribe(3, "/topic/order.>", "snapshot:true\n");
    let frames: Vec<_> = (0..10).map(|_| client.frame()).collect();
    let numbers: Vec<_> = frames.iter().map(|frame| message_id_of(frame)).collect();
    assert_eq!(numbers, ["4", "5", "3", "6", "7", "8", "9", "10", "11", "12"]);
    assert_eq!(frames[2], first.replace("subscription:2", "subscription:3"));
}

#[test]
fn a_last_value_is_heard_as_a_snapshot_or_as_news_but_never_twice() {
    const TOPICS: u64 = 20_000;
    let broker = BrokerHarness::open();
    (1..=TOPICS).for_each(|security| broker.publish(1, tick(security, 1)));
    settle(&broker, 2);
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/tick.*", "snapshot:true\n");
    // During the snapshot, the last of them gets a new price; another snapshot follows both.
    broker.publish(3, tick(TOPICS, 2));
    client.send("SUBSCRIBE\nid:2\ndestination:/topic/tick.1\nsnapshot:true\n\n");
    let frames = std::iter::repeat_with(|| client.frame()).take_while(|frame| frame.contains("\nsubscription:1\n"));
    let last = format!("\ndestination:/topic/tick.{TOPICS}\n");
    let (twice, once): (Vec<_>, Vec<_>) = frames.partition(|frame| frame.contains(&last));
    assert_eq!(once.len() as u64, TOPICS - 1);
    let is_news: Vec<_> = twice.iter().map(|frame| !frame.contains("\nsnapshot:true\n")).collect();
    // Either the snapshot had reached it before, or the live event delivers it.
    assert!(is_news == [true] || is_news == [false, true], "{twice:?}");
}

fn order(id: u64, state: BaseState) -> Event {
    Event::Order(Arc::new(domain::Order { state, ..samples::order(id) }))
}

fn status(id: u64, status: OrdStatus) -> Event {
    let order = samples::order(id);
    Event::OrderStatus(Arc::new(OrderStatus {
        order: order.id,
        int_id: order.int_id,
        ext_id: None,
        strategy: order.strategy,
        at: Timestamp(0),
        ext_at: None,
        sequence: id,
        status,
        exec_type: ExecType::New,
        filled: Quantity::ZERO,
        remaining: Quantity::from(1),
        last_quantity: None,
        last_price: None,
        avg_price: None,
        reason: None,
        request: None,
        client: None,
    }))
}

/// The last segments of the snapshot of all topics.
fn remembered(broker: &BrokerHarness) -> String {
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/>", "snapshot:true\n");
    // What is published now comes after what was published before.
    broker.publish_warning(1_000);
    let told =
        |frame: String| frame.lines().find_map(|line| line.strip_prefix("destination:/topic/").map(str::to_owned));
    let topics = std::iter::repeat_with(|| told(client.frame()).unwrap()).take_while(|topic| topic != "log-event.warn");
    topics.collect::<Vec<_>>().join(" ")
}

#[test]
fn where_too_much_is_remembered_the_oldest_orders_give_way_and_those_that_are_done_went_before() {
    let broker = BrokerHarness::open_within(BrokerLimits { state_topics: 9, ..BrokerLimits::default() }, &[], None);
    let of_order = |id| {
        format!(
            "order.SERVER.TEST-{id} order-status.SERVER.TEST-{id} the service.SERVER.TEST-{id} rialto.SERVER.TEST-{id}"
        )
    };
    // One topic and four of each order: there is room for two of them.
    broker.publish(1, phase(1, StrategyPhase::Run));
    for id in [1, 2] {
        broker.publish(2, order(id, BaseState::New));
        broker.publish(2, status(id, OrdStatus::Submitted));
    }
    settle(&broker, 3);
    assert_eq!(remembered(&broker), format!("life-cycle.SERVER {} {}", of_order(1), of_order(2)));
    broker.publish(4, order(1, BaseState::Filled));
    broker.publish(4, status(1, OrdStatus::Executed));
    broker.publish(5, order(3, BaseState::New));
    broker.publish(5, status(3, OrdStatus::Submitted));
    settle(&broker, 6);
    assert_eq!(remembered(&broker), format!("life-cycle.SERVER {} {}", of_order(2), of_order(3)));
    broker.publish(7, order(4, BaseState::New));
    broker.publish(7, status(4, OrdStatus::Submitted));
    broker.publish(8, phase(2, StrategyPhase::Run));
    settle(&broker, 9);
    assert_eq!(remembered(&broker), format!("life-cycle.SERVER life-cycle.MOMENTUM {}", of_order(4)));
    // An evicted one is back with its next event.
    broker.publish(10, order(3, BaseState::PartiallyFilled));
    settle(&broker, 11);
    let told = format!("life-cycle.SERVER life-cycle.MOMENTUM order.SERVER.TEST-3 {}", of_order(4));
    assert_eq!(remembered(&broker), told);
    // Where no order is left to evict, new values are not cached.
    (3..=20).for_each(|strategy| broker.publish(12, phase(strategy, StrategyPhase::Run)));
    settle(&broker, 13);
    assert_eq!(remembered(&broker).split(' ').filter(|topic| topic.starts_with("life-cycle.")).count(), 9);
}

fn session(qualifier: &str, state: SessionState) -> Event {
    let adapter = AdapterName::new("SIMULATED", Some(qualifier));
    Event::Session(Arc::new(SessionChange { adapter, state, lines: vec![] }))
}

#[test]
fn of_a_topic_that_two_sessions_share_both_are_told() {
    let broker = BrokerHarness::open();
    broker.publish(1, session("ALPHA", SessionState::Connected));
    broker.publish(2, session("BETA", SessionState::LoggedOn));
    broker.publish(3, session("ALPHA", SessionState::LoggedOn));
    settle(&broker, 4);
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/session.>", "snapshot:true\n");
    assert_eq!([client.frame(), client.frame()].each_ref().map(|frame| sequence_of(frame)), [3, 2]);
}

#[test]
fn without_the_wish_only_what_happens_from_now_on_is_heard() {
    let broker = BrokerHarness::open();
    broker.publish(1, tick(7, 10));
    settle(&broker, 2);
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/tick.>", "");
    broker.publish(3, tick(7, 11));
    assert_eq!(sequence_of(&client.frame()), 3);
}

#[test]
fn a_long_snapshot_comes_whole_as_fast_as_it_is_read() {
    let broker = BrokerHarness::open();
    for name in 0..5_000_u64 {
        // Strategies without a name are called by their number.
        broker.publish(name + 1, phase(1_000 + name, StrategyPhase::Run));
    }
    settle(&broker, 5_001);
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/life-cycle.>", "snapshot:true\n");
    let mut heard: Vec<u64> = (0..5_000).map(|_| sequence_of(&client.frame())).collect();
    heard.sort_unstable();
    assert_eq!(heard, (1..=5_000).collect::<Vec<_>>());
}
