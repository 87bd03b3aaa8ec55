//! New orders and cancels.

use adapter_binance::order_tracker::{EVENT_WITHIN_MILLIS, OrderRequestKind::Cancel, OrderRequestKind::Submit};
use expect_test::expect;
use serde_json::json;

use crate::venue_words::{FIRST, NOW, ORDER, Told, canceled, event, failure, new, success, taken, tracker, trade};

#[test]
fn an_acceptance_is_told_once_whichever_comes_first() {
    let expected = "5 accepted as 70\n";
    let mut first_tracker = tracker();
    let mut told = Told::default();
    told.answer(&mut first_tracker, Submit, &taken(70, FIRST)).event(&mut first_tracker, &new(70, FIRST));
    assert_eq!(told.lines(), expected);
    let mut second_tracker = tracker();
    let mut told = Told::default();
    told.event(&mut second_tracker, &new(70, FIRST)).answer(&mut second_tracker, Submit, &taken(70, FIRST));
    assert_eq!(told.lines(), expected);
}

#[test]
fn events_in_reverse_order_and_twice_never_put_a_fill_before_its_acceptance() {
    let mut tracker = tracker();
    let mut told = Told::default();
    for event in [trade(70, FIRST, 9, "0.5"), new(70, FIRST), trade(70, FIRST, 9, "0.5"), new(70, FIRST)] {
        told.event(&mut tracker, &event);
    }
    expect![[r#"
        5 accepted as 70
        5 filled 0.5 at 100, BTCUSDT:9 of 70, 0.01 BNB
        5 filled 0.5 at 100, BTCUSDT:9 of 70, 0.01 BNB
    "#]]
    .assert_eq(&told.lines());
}

#[test]
fn a_refusal_is_a_reject_and_what_the_venue_does_not_know_is_not() {
    let answers = [
        failure(400, -2010, "Account has insufficient balance for requested action."),
        failure(400, -1021, "Timestamp for this request is outside of the recvWindow."),
        failure(429, -1003, "Too many requests."),
        failure(503, -1007, "Timeout waiting for response from backend server."),
        failure(400, -2010, "Duplicate order sent."),
        success(&json!({ "strange": true })),
    ];
    let mut lines = String::new();
    for answer in answers {
        let mut told = Told::default();
        lines += &told.answer(&mut tracker(), Submit, &answer).lines();
    }
    expect![[r#"
        5 rejected: venue-balance: Account has insufficient balance for requested action. (-2010 NEW_ORDER_REJECTED)
        5 rejected: venue-clock: Timestamp for this request is outside of the recvWindow. (-1021 INVALID_TIMESTAMP)
        5 rejected: venue-rate: Too many requests. (-1003 TOO_MANY_REQUESTS)
        5 unknown: Timeout waiting for response from backend server. (-1007 TIMEOUT), dead after Some(6000) ms
        5 unknown: missing field `symbol`, dead after Some(6000) ms
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_cancel_ends_the_order_by_its_event_and_a_late_fill_is_told() {
    let mut tracker = tracker();
    let mut told = Told::default();
    told.event(&mut tracker, &new(70, FIRST));
    told.answer(&mut tracker, Cancel, &success(&json!({})));
    assert!(tracker.awaits_events());
    told.event(&mut tracker, &canceled(70, FIRST)).event(&mut tracker, &canceled(70, FIRST));
    assert!(!tracker.awaits_events());
    told.event(&mut tracker, &trade(70, FIRST, 9, "0.5"));
    told.answer(&mut tracker, Cancel, &failure(400, -2011, "Unknown order sent."));
    told.answer(&mut tracker, Cancel, &failure(503, -1000, "An unknown error occurred."));
    expect![[r#"
        5 accepted as 70
        5 canceled: -
        5 filled 0.5 at 100, BTCUSDT:9 of 70, 0.01 BNB
        5 cancel rejected: venue-unknown-order: Unknown order sent. (-2011 CANCEL_REJECTED)
        5 unknown: An unknown error occurred. (-1000 UNKNOWN), dead after Some(6000) ms
    "#]]
    .assert_eq(&told.lines());
}

#[test]
fn an_event_that_an_answer_announced_and_that_does_not_come_is_missed() {
    let mut tracker = tracker();
    Told::default().answer(&mut tracker, Submit, &taken(70, FIRST));
    let late = NOW.plus_millis(EVENT_WITHIN_MILLIS);
    assert_eq!([tracker.overdue(late.plus_millis(-1)), tracker.overdue(late)], [None, Some(ORDER)]);
    Told::default().event(&mut tracker, &new(70, FIRST));
    assert_eq!(tracker.overdue(late), None);
}

#[test]
fn what_an_event_does_not_make_clear_is_asked_for_and_strangers_are_not_ours() {
    let mut tracker = tracker();
    let mut told = Told::default();
    told.event(&mut tracker, &event("HALTED", "NEW", 70, FIRST, &json!({})));
    told.event(&mut tracker, &event("CANCELED", "AUCTION", 70, FIRST, &json!({})));
    told.event(&mut tracker, &event("TRADE", "FILLED", 70, FIRST, &json!({ "l": "0" })));
    told.event(&mut tracker, &new(71, "web_1f"));
    told.event(&mut tracker, &new(72, "R2-5-0"));
    expect![[r#"
        Gap
        Gap
    "#]]
    .assert_eq(&told.lines());
}

#[test]
fn an_end_without_an_acceptance_tells_both() {
    let mut tracker = tracker();
    let mut told = Told::default();
    let expired = event("EXPIRED", "EXPIRED", 70, FIRST, &json!({ "eR": "NO_LIQUIDITY" }));
    told.event(&mut tracker, &expired).event(&mut tracker, &new(70, FIRST));
    expect![[r#"
        5 accepted as 70
        5 expired: NO_LIQUIDITY
    "#]]
    .assert_eq(&told.lines());
}

/// 0.8 of 2 would have traded with another order of the account; then the rest trades.
#[test]
fn an_order_that_self_trade_prevention_reduces_goes_on_with_what_is_left() {
    let mut tracker = tracker();
    let mut told = Told::default();
    let reduced = event("TRADE_PREVENTION", "NEW", 70, FIRST, &json!({ "v": 3, "A": "0.8" }));
    let rest = json!({ "l": "1.2", "z": "1.2", "L": "100", "t": 9, "n": "0.01", "N": "BNB", "v": 3, "A": "0.8" });
    let filled = event("TRADE", "FILLED", 70, FIRST, &rest);
    told.event(&mut tracker, &new(70, FIRST)).event(&mut tracker, &reduced).event(&mut tracker, &reduced);
    // What is asked of the venue from here on counts it too.
    assert_eq!(tracker.prevented(ORDER).to_string(), "0.8");
    told.event(&mut tracker, &filled);
    // Of a leg that is not the order's any more: the venue is asked.
    told.event(&mut tracker, &event("TRADE_PREVENTION", "NEW", 69, FIRST, &json!({ "v": 4, "A": "0.1" })));
    expect![[r#"
        5 accepted as 70
        5 replaced by 1.2 at Some(100) as 70
        5 filled 1.2 at 100, BTCUSDT:9 of 70, 0.01 BNB
        Gap
    "#]]
    .assert_eq(&told.lines());
    assert_eq!(tracker.prevented(ORDER).to_string(), "0.8");
}
