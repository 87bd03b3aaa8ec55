//! Sessions at their limits and at unusual times. Transcripts are in `contract/stomp/`.

use std::sync::Arc;

use stomp::session::{Action, Breach, Closing, EARLY_BYTES_MAX, Rights, Rules, SUBSCRIPTIONS_MAX};
use stomp::{Pattern, Session, Time};

const CONNECT: &[u8] = b"CONNECT\naccept-version:1.2\nheart-beat:1000,1000\n\n\0";

fn rights() -> Arc<Rights> {
    let all: Vec<Pattern> =
        ["/topic/>", "/queue/>"].iter().map(|text| Pattern::parse(text).expect("a pattern")).collect();
    Arc::new(Rights { send: all.clone(), subscribe: all, ..Rights::default() })
}

fn waiting(rules: Rules) -> Session {
    let mut session = Session::new(Time(0), "1".to_owned(), Arc::new(rules));
    let mut actions = Vec::new();
    session.receive(Time(0), CONNECT, &mut actions);
    assert!(matches!(actions[..], [Action::Authenticate(_)]));
    session
}

fn connected(rules: Rules) -> Session {
    let mut session = waiting(rules);
    let mut actions = Vec::new();
    session.admit(Time(0), rights(), &mut actions);
    assert!(matches!(actions[..], [Action::Send(_)]) && session.is_open());
    session
}

fn closing(actions: &[Action]) -> Option<&Closing> {
    match actions.last() {
        Some(Action::Close(closing)) => Some(closing),
        _ => None,
    }
}

#[test]
fn one_subscription_too_many_ends_the_connection() {
    let mut session = connected(Rules::new("Rialto"));
    let mut actions = Vec::new();
    for id in 0..=SUBSCRIPTIONS_MAX {
        assert_eq!(closing(&actions), None);
        let frame = format!("SUBSCRIBE\nid:{id}\ndestination:/topic/a\n\n\0");
        session.receive(Time(0), frame.as_bytes(), &mut actions);
    }
    let breach = Breach::TooManySubscriptions { limit: SUBSCRIPTIONS_MAX };
    assert_eq!(closing(&actions), Some(&Closing::Breach(breach)));
}

#[test]
fn a_flood_before_the_login_is_answered_ends_the_connection() {
    let mut session = waiting(Rules::new("Rialto"));
    let mut actions = Vec::new();
    session.receive(Time(0), &vec![b'\n'; EARLY_BYTES_MAX], &mut actions);
    assert_eq!(actions, []);
    session.receive(Time(0), b"\n", &mut actions);
    let breach = Breach::EarlyBytes { limit: EARLY_BYTES_MAX };
    assert_eq!(closing(&actions), Some(&Closing::Breach(breach)));
}

#[test]
fn an_answer_that_comes_after_the_end_changes_nothing() {
    let mut session = waiting(Rules::new("Rialto"));
    session.refuse("shutting down", None, &mut Vec::new());
    let mut actions = Vec::new();
    session.admit(Time(0), rights(), &mut actions);
    session.refuse("login failed", None, &mut actions);
    session.receive(Time(0), CONNECT, &mut actions);
    session.tick(Time::from_millis(1 << 40), &mut actions);
    assert_eq!((actions, session.is_closed(), session.deadline()), (Vec::new(), true, Time::NEVER));
}

#[test]
fn a_browser_is_borne_longer_and_its_pongs_are_life() {
    let mut session = connected(Rules { heart_beat_grace: 3, ..Rules::new("Rialto") });
    let mut actions = Vec::new();
    session.alive(Time::from_millis(2_900));
    session.sent(Time::from_millis(5_800));
    session.tick(Time::from_millis(5_899), &mut actions);
    assert_eq!(actions, []);
    assert_eq!(session.deadline(), Time::from_millis(5_900));
    session.tick(Time::from_millis(5_900), &mut actions);
    assert_eq!(closing(&actions), Some(&Closing::Breach(Breach::NoHeartBeat { millis: 3_000 })));
}

#[test]
fn a_slow_login_does_not_count_as_silence() {
    let mut session = waiting(Rules::new("Rialto"));
    session.admit(Time::from_millis(9_000), rights(), &mut Vec::new());
    let mut actions = Vec::new();
    session.tick(Time::from_millis(9_500), &mut actions);
    assert_eq!(actions, []);
    assert_eq!(session.deadline(), Time::from_millis(9_800));
}

#[test]
fn what_the_application_cannot_do_names_the_receipt_of_its_frame() {
    let mut session = connected(Rules::new("Rialto"));
    let mut actions = Vec::new();
    session.receive(Time(0), b"SEND\ndestination:/queue/full\nreceipt:r-1\n\nx\0", &mut actions);
    let Action::Perform { receipt, .. } = &actions[0] else {
        panic!("{actions:?}");
    };
    assert_eq!(receipt.as_deref(), Some("r-1"));
    let mut last_words = Vec::new();
    session.refuse("the queue is full", receipt.as_deref(), &mut last_words);
    let Action::Send(error) = &last_words[0] else {
        panic!("{last_words:?}");
    };
    assert!(String::from_utf8_lossy(error).contains("\nreceipt-id:r-1\n"));
}
