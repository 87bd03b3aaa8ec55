//! Outbound lanes of a connection.

use super::*;
use crate::destination::Destination;
use crate::headers::Headers;
use crate::session::{DeliveryFlags, DeliveryToken, Permissions, StompAction, StompRules, StompSession};

const KEY: SubscriptionKey = SubscriptionKey(1);
const OTHER: SubscriptionKey = SubscriptionKey(2);

/// A connected session with two subscriptions, the first of that mode with a prefetch of one, the second automatic.
fn session(mode: &str) -> StompSession {
    let mut session = StompSession::new(MonotonicTime(0), "1".to_owned(), Arc::new(StompRules::new("Rialto")));
    let mut actions = Vec::new();
    session.receive(MonotonicTime(0), b"CONNECT\naccept-version:1.2\n\n\0", &mut actions);
    let all = vec![
        crate::DestinationPattern::parse("/topic/>").unwrap(),
        crate::DestinationPattern::parse("/queue/>").unwrap(),
    ];
    session.on_authenticated(
        MonotonicTime(0),
        Arc::new(Permissions { send: all.clone(), subscribe: all, ..Permissions::default() }),
        &mut actions,
    );
    let first = format!("SUBSCRIBE\nid:a\nack:{mode}\nactivemq.prefetchSize:1\ndestination:/topic/>\n\n\0");
    session.receive(MonotonicTime(0), first.as_bytes(), &mut actions);
    session.receive(MonotonicTime(0), b"SUBSCRIBE\nid:b\ndestination:/topic/>\n\n\0", &mut actions);
    assert_eq!(session.subscriptions().len(), 2);
    session
}

fn message(id: u64, body: &[u8]) -> Arc<StompMessage> {
    Arc::new(StompMessage::new(id, &Destination::parse("/topic/a").unwrap(), &Headers::default(), body))
}

fn delivery(subscription: SubscriptionKey, id: u64) -> SubscriptionDelivery {
    SubscriptionDelivery { subscription, message: message(id, b""), token: None, flags: DeliveryFlags::default() }
}

/// The frames that are sent now: the id of a message with its subscription and flags, or the command of a control
/// frame.
fn leaves(lanes: &mut OutboundLanes, session: &mut StompSession, now: MonotonicTime, room: usize) -> String {
    let mut batch = FrameBatch::default();
    lanes.drain(now, room, session.subscriptions(), &mut batch);
    let frames: Vec<String> = batch.frames().map(|(head, tail)| summary(head, tail)).collect();
    frames.join(" ")
}

fn summary(head: &[u8], tail: &[u8]) -> String {
    let text = String::from_utf8([head, tail].concat()).unwrap();
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned();
    if !text.starts_with("MESSAGE") {
        return text.lines().next().unwrap_or_default().to_owned();
    }
    let marks = [("conflated:", "+"), ("snapshot:", "s")].map(|(name, mark)| match value(name).as_str() {
        "" => String::new(),
        "true" => mark.to_owned(),
        count => format!("{mark}{count}"),
    });
    format!("{}{}{}", value("subscription:"), value("message-id:"), marks.concat())
}

#[test]
fn answers_go_first_then_orders_then_prices() {
    let mut session = session("auto");
    let mut lanes = OutboundLanes::unthrottled();
    lanes.push_market(KEY, TopicId(1), message(1, b""), TopicActivity::Busy);
    lanes.push_reliable(delivery(KEY, 2));
    lanes.push_control(Cow::Borrowed(b"RECEIPT\n\n\0")).unwrap();
    assert_eq!(lanes.wake_at(MonotonicTime(5)), MonotonicTime(5));
    assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 1_000), "RECEIPT a2 a1");
    assert_eq!((lanes.wake_at(MonotonicTime(5)), lanes.waiting_bytes()), (MonotonicTime::NEVER, 0));
}

#[test]
fn a_small_batch_leaves_prices_where_newer_ones_replace_them() {
    let mut session = session("auto");
    let mut lanes = OutboundLanes::throttled(Rate::per_second(50).unwrap());
    lanes.push_market(KEY, TopicId(1), message(1, b""), TopicActivity::Busy);
    lanes.push_market(KEY, TopicId(2), message(2, b""), TopicActivity::Busy);
    assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 1), "a1");
    lanes.push_market(KEY, TopicId(2), message(3, b""), TopicActivity::Busy);
    assert_eq!(lanes.waiting_messages(), 1);
    assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 1), "a3+1");
}

#[test]
fn a_last_value_is_marked_until_an_event_replaces_it() {
    for mut lanes in [OutboundLanes::unthrottled(), OutboundLanes::throttled(Rate::per_second(50).unwrap())] {
        let mut session = session("auto");
        lanes.push_market_snapshot(KEY, TopicId(1), message(1, b""), 0);
        assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 1_000), "a1s");
    }
    let mut lanes = OutboundLanes::throttled(Rate::per_second(50).unwrap());
    lanes.push_market_snapshot(KEY, TopicId(1), message(1, b""), 0);
    lanes.push_market(KEY, TopicId(1), message(2, b""), TopicActivity::Busy);
    lanes.push_market_snapshot(KEY, TopicId(1), message(1, b""), 0);
    assert_eq!(leaves(&mut lanes, &mut session("auto"), MonotonicTime(0), 1_000), "a2");
}

#[test]
fn a_subscription_without_room_waits_and_holds_up_nobody() {
    let mut session = session("client");
    let mut lanes = OutboundLanes::unthrottled();
    for id in 1..=3 {
        lanes.push_reliable(delivery(KEY, id));
    }
    lanes.push_reliable(delivery(OTHER, 4));
    lanes.push_market(KEY, TopicId(1), message(5, b""), TopicActivity::Busy);
    lanes.push_market(KEY, TopicId(1), message(6, b""), TopicActivity::Busy);
    assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "a1 b4");
    assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "");
    for (ack, expected) in [("1-1", "a2"), ("1-2", "a3"), ("1-3", "a6+1")] {
        let mut actions = Vec::new();
        session.receive(MonotonicTime(0), format!("ACK\nid:{ack}\n\n\0").as_bytes(), &mut actions);
        assert_eq!(actions, []);
        lanes.on_room();
        assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), expected);
    }
}

#[test]
fn what_is_sent_is_settled_in_auto_mode() {
    let mut session = session("auto");
    let mut lanes = OutboundLanes::unthrottled();
    lanes.push_reliable(SubscriptionDelivery { token: Some(DeliveryToken(9)), ..delivery(KEY, 1) });
    let mut batch = FrameBatch::default();
    lanes.drain(MonotonicTime(0), 1_000, session.subscriptions(), &mut batch);
    assert_eq!(batch.acknowledged(), [(KEY, DeliveryToken(9))]);
}

#[test]
fn nothing_of_an_ended_subscription_leaves() {
    let mut session = session("client");
    let mut lanes = OutboundLanes::unthrottled();
    for id in 1..=2 {
        lanes.push_reliable(delivery(KEY, id));
    }
    lanes.push_market(KEY, TopicId(1), message(3, b""), TopicActivity::Busy);
    assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "a1");
    let mut actions = Vec::new();
    session.receive(MonotonicTime(0), b"UNSUBSCRIBE\nid:a\n\n\0", &mut actions);
    assert_eq!(actions, [StompAction::Unsubscribe(KEY)]);
    // A publisher that does not know yet that the subscription has ended.
    lanes.push_reliable(delivery(KEY, 4));
    assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "");
    lanes.remove_subscription(KEY);
    assert_eq!((lanes.waiting_bytes(), lanes.waiting_messages()), (0, 0));
}

fn broadcast(number: u64) -> Broadcast {
    Broadcast { message: message(number, b""), number, is_own: false, is_reserved: false }
}

/// Both subscriptions receive from the beginning on.
fn hearing(mode: &str) -> StompSession {
    let mut session = session(mode);
    [KEY, OTHER].into_iter().for_each(|key| session.subscriptions().activate(key, 0, false));
    session
}

#[test]
fn a_broadcast_is_queued_once_and_goes_to_all_matching_subscriptions() {
    let (mut lanes, mut incoming) = (OutboundLanes::unthrottled(), PublishQueue::default());
    incoming.push_broadcast(broadcast(1));
    incoming.push_price(TopicId(1), broadcast(2), TopicActivity::Busy);
    lanes.drain_incoming(&mut incoming);
    assert_eq!((lanes.waiting_messages(), incoming.len()), (2, 0));
    assert_eq!(leaves(&mut lanes, &mut hearing("auto"), MonotonicTime(0), 10_000), "a1 b1 a2 b2");
    assert_eq!(
        (lanes.waiting_messages(), lanes.waiting_bytes(), lanes.wake_at(MonotonicTime(5))),
        (0, 0, MonotonicTime::NEVER)
    );
}

#[test]
fn a_small_batch_goes_on_with_the_next_subscription() {
    let (mut lanes, mut incoming, mut session) =
        (OutboundLanes::unthrottled(), PublishQueue::default(), hearing("auto"));
    incoming.push_broadcast(broadcast(1));
    incoming.push_price(TopicId(1), broadcast(2), TopicActivity::Busy);
    lanes.drain_incoming(&mut incoming);
    let left = ["a1", "b1", "a2", "b2", ""].map(|expected| {
        assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 1), expected);
        lanes.wake_at(MonotonicTime(0))
    });
    assert_eq!(
        left,
        [MonotonicTime(0), MonotonicTime(0), MonotonicTime(0), MonotonicTime::NEVER, MonotonicTime::NEVER]
    );
}

#[test]
fn a_throttled_price_is_charged_for_every_subscription() {
    let (mut lanes, mut incoming) = (OutboundLanes::throttled(Rate::per_second(10).unwrap()), PublishQueue::default());
    let mut session = hearing("auto");
    (1..=3).for_each(|topic| incoming.push_price(TopicId(topic), broadcast(topic), TopicActivity::Busy));
    lanes.drain_incoming(&mut incoming);
    // A rate of 10 has a burst of one and gains nine in a second.
    let mut now = MonotonicTime(0);
    for expected in ["a1", "b1", "a2", "b2", "a3", "b3"] {
        assert_eq!(leaves(&mut lanes, &mut session, now, 10_000), expected);
        assert_eq!(leaves(&mut lanes, &mut session, now, 10_000), "");
        now = lanes.wake_at(now);
    }
    assert_eq!(now, MonotonicTime::NEVER);
}

#[test]
fn what_one_subscription_does_not_take_waits_aside_for_that_one_alone() {
    let (mut lanes, mut incoming, mut session) =
        (OutboundLanes::unthrottled(), PublishQueue::default(), hearing("client"));
    for number in 1..=3 {
        incoming.push_broadcast(broadcast(number));
        incoming.push_price(TopicId(1), broadcast(number + 10), TopicActivity::Busy);
    }
    lanes.drain_incoming(&mut incoming);
    // The first subscription has a prefetch of one.
    assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "a1 b1 b2 b3 b11 b12 b13");
    assert!(lanes.unacknowledged_bytes() > 0);
    for (ack, expected) in [("1-1", "a2"), ("1-2", "a3"), ("1-3", "a13+2")] {
        session.receive(MonotonicTime(0), format!("ACK\nid:{ack}\n\n\0").as_bytes(), &mut Vec::new());
        lanes.on_room();
        assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), expected);
    }
    assert_eq!((lanes.waiting_messages(), lanes.waiting_bytes()), (0, 0));
}

#[test]
fn a_newer_price_takes_the_place_of_a_last_value_that_was_not_delivered() {
    for mut lanes in [OutboundLanes::unthrottled(), OutboundLanes::throttled(Rate::per_second(50).unwrap())] {
        let (mut incoming, mut session) = (PublishQueue::default(), hearing("client"));
        lanes.push_reliable(delivery(KEY, 1));
        assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "a1");
        lanes.push_market_snapshot(KEY, TopicId(1), message(2, b""), 2);
        assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "");
        incoming.push_price(TopicId(1), broadcast(3), TopicActivity::Busy);
        lanes.drain_incoming(&mut incoming);
        assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "b3");
        session.receive(MonotonicTime(0), b"ACK\nid:1-1\n\n\0", &mut Vec::new());
        lanes.on_room();
        assert_eq!(leaves(&mut lanes, &mut session, MonotonicTime(0), 10_000), "a3");
    }
}

#[test]
fn a_source_that_can_wait_waits_at_a_quarter_of_the_mark() {
    assert!(OutboundLanes::has_room(RELIABLE_BYTES_MARK / 4));
    assert!(!OutboundLanes::has_room(RELIABLE_BYTES_MARK / 4 + 1));
}

#[test]
fn a_client_that_asks_for_receipts_and_never_reads_ends() {
    let mut lanes = OutboundLanes::unthrottled();
    let receipt = Cow::Owned(vec![b'x'; CONTROL_BYTES_MAX]);
    assert_eq!(lanes.push_control(receipt), Ok(()));
    let overflow = SlowConsumer::Control { limit: CONTROL_BYTES_MAX };
    assert_eq!(lanes.push_control(Cow::Borrowed(b"\n")), Err(overflow));
}

#[test]
fn prices_never_overflow_a_connection_that_stops_reading() {
    let mut lanes = OutboundLanes::unthrottled();
    for round in 0..100 {
        (0..50).for_each(|topic| {
            lanes.push_market(KEY, TopicId(topic), message(round, &[b'x'; 1_000]), TopicActivity::Busy);
        });
    }
    assert!(lanes.waiting_messages() < BACKLOG_BYTES_MAX / 1_000 + 50);
    assert_eq!(lanes.reliable_bytes(), 0);
}
