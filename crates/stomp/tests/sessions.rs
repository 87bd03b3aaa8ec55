//! Sessions at their limits and at unusual times. Transcripts are in `contract/stomp/`.

use std::sync::Arc;

use stomp::session::{
    CloseCause, EARLY_BYTES_MAX, Permissions, ProtocolError, SUBSCRIPTIONS_MAX, StompAction, StompRules,
};
use stomp::{DestinationPattern, MonotonicTime, StompSession};

const CONNECT: &[u8] = b"CONNECT\naccept-version:1.2\nheart-beat:1000,1000\n\n\0";

fn rights() -> Arc<Permissions> {
    let all: Vec<DestinationPattern> =
        ["/topic/>", "/queue/>"].iter().map(|text| DestinationPattern::parse(text).expect("a pattern")).collect();
    Arc::new(Permissions { send: all.clone(), subscribe: all, ..Permissions::default() })
}

fn waiting(rules: StompRules) -> StompSession {
    let mut session = StompSession::new(MonotonicTime(0), "1".to_owned(), Arc::new(rules));
    let mut actions = Vec::new();
    session.receive(MonotonicTime(0), CONNECT, &mut actions);
    assert!(matches!(actions[..], [StompAction::Authenticate(_)]));
    session
}

fn connected(rules: StompRules) -> StompSession {
    let mut session = waiting(rules);
    let mut actions = Vec::new();
    session.on_authenticated(MonotonicTime(0), rights(), &mut actions);
    assert!(matches!(actions[..], [StompAction::Send(_)]) && session.is_open());
    session
}

fn closing(actions: &[StompAction]) -> Option<&CloseCause> {
    match actions.last() {
        Some(StompAction::Close(closing)) => Some(closing),
        _ => None,
    }
}

#[test]
fn one_subscription_too_many_ends_the_connection() {
    let mut session = connected(StompRules::new("Rialto"));
    let mut actions = Vec::new();
    for id in 0..=SUBSCRIPTIONS_MAX {
        assert_eq!(closing(&actions), None);
        let frame = format!("SUBSCRIBE\nid:{id}\ndestination:/topic/a\n\n\0");
        session.receive(MonotonicTime(0), frame.as_bytes(), &mut actions);
    }
    let breach = ProtocolError::TooManySubscriptions { limit: SUBSCRIPTIONS_MAX };
    assert_eq!(closing(&actions), Some(&CloseCause::Breach(breach)));
}

#[test]
fn a_flood_before_the_login_is_answered_ends_the_connection() {
    let mut session = waiting(StompRules::new("Rialto"));
    let mut actions = Vec::new();
    session.receive(MonotonicTime(0), &vec![b'\n'; EARLY_BYTES_MAX], &mut actions);
    assert_eq!(actions, []);
    session.receive(MonotonicTime(0), b"\n", &mut actions);
    let breach = ProtocolError::EarlyBytes { limit: EARLY_BYTES_MAX };
    assert_eq!(closing(&actions), Some(&CloseCause::Breach(breach)));
}

#[test]
fn an_answer_that_comes_after_the_end_changes_nothing() {
    let mut session = waiting(StompRules::new("Rialto"));
    session.close_with_error("shutting down", None, &mut Vec::new());
    let mut actions = Vec::new();
    session.on_authenticated(MonotonicTime(0), rights(), &mut actions);
    session.close_with_error("login failed", None, &mut actions);
    session.receive(MonotonicTime(0), CONNECT, &mut actions);
    session.tick(MonotonicTime::from_millis(1 << 40), &mut actions);
    assert_eq!((actions, session.is_closed(), session.deadline()), (Vec::new(), true, MonotonicTime::NEVER));
}

#[test]
fn a_browser_is_borne_longer_and_its_pongs_are_life() {
    let mut session = connected(StompRules { heart_beat_grace: 3, ..StompRules::new("Rialto") });
    let mut actions = Vec::new();
    session.on_pong(MonotonicTime::from_millis(2_900));
    session.on_sent(MonotonicTime::from_millis(5_800));
    session.tick(MonotonicTime::from_millis(5_899), &mut actions);
    assert_eq!(actions, []);
    assert_eq!(session.deadline(), MonotonicTime::from_millis(5_900));
    session.tick(MonotonicTime::from_millis(5_900), &mut actions);
    assert_eq!(closing(&actions), Some(&CloseCause::Breach(ProtocolError::NoHeartBeat { millis: 3_000 })));
}

#[test]
fn a_slow_login_does_not_count_as_silence() {
    let mut session = waiting(StompRules::new("Rialto"));
    session.on_authenticated(MonotonicTime::from_millis(9_000), rights(), &mut Vec::new());
    let mut actions = Vec::new();
    session.tick(MonotonicTime::from_millis(9_500), &mut actions);
    assert_eq!(actions, []);
    assert_eq!(session.deadline(), MonotonicTime::from_millis(9_800));
}

#[test]
fn what_the_application_cannot_do_names_the_receipt_of_its_frame() {
    let mut session = connected(StompRules::new("Rialto"));
    let mut actions = Vec::new();
    session.receive(MonotonicTime(0), b"SEND\ndestination:/queue/full\nreceipt:r-1\n\nx\0", &mut actions);
    let StompAction::Execute { receipt, .. } = &actions[0] else {
        panic!("{actions:?}");
    };
    assert_eq!(receipt.as_deref(), Some("r-1"));
    let mut last_words = Vec::new();
    session.close_with_error("the queue is full", receipt.as_deref(), &mut last_words);
    let StompAction::Send(error) = &last_words[0] else {
        panic!("{last_words:?}");
    };
    assert!(String::from_utf8_lossy(error).contains("\nreceipt-id:r-1\n"));
}
