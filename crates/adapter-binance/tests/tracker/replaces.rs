//! Replaces: an amendment keeps the order, a cancel-replace makes a second leg.

use adapter_binance::order_tracker::OrderRequestKind::{Amend, CancelReplace};
use adapter_binance::order_tracker::{EVENT_WITHIN_MILLIS, OrderTracker, Replacing, ReplacingBy};
use adapter_binance::protocol::requests::OrderReference;
use domain::Order;
use expect_test::expect;
use serde_json::{Value, json};

use crate::venue_words::{
    FIRST, NOW, ORDER, Told, answer, canceled, event, failure, new, success, terms, tracker, trade,
};

const SECOND: &str = "R1-5-1";

/// Order 5 rests and is being replaced.
fn replacing(by: ReplacingBy) -> (OrderTracker, Told) {
    let mut tracker = tracker();
    Told::default().event(&mut tracker, &new(70, FIRST));
    let terms = terms("1", if by == ReplacingBy::Amendment { "100" } else { "101" });
    let order = Order { id: ORDER, ..samples::order(ORDER.0) };
    tracker.on_replace(&order, Replacing { terms, by });
    (tracker, Told::default())
}

fn by_leg() -> (OrderTracker, Told) {
    replacing(ReplacingBy::Leg { client_id: SECOND.to_owned(), is_canceled: false })
}

fn both_halves(cancel: &str, place: &str, refused: Value) -> Value {
    let placed = json!({ "symbol": "BTCUSDT", "orderId": 71, "clientOrderId": SECOND });
    let place_answer = if place == "SUCCESS" { placed } else { refused };
    json!({ "cancelResult": cancel, "newOrderResult": place, "cancelResponse": {}, "newOrderResponse": place_answer })
}

#[test]
fn an_amendment_is_told_once_by_its_answer_or_its_event() {
    let order = json!({
        "symbol": "BTCUSDT", "orderId": 70, "clientOrderId": FIRST, "price": "100", "qty": "1", "executedQty": "0",
        "status": "NEW", "timeInForce": "GTC", "type": "LIMIT", "side": "BUY",
    });
    let amended = success(&json!({ "transactTime": 1, "executionId": 1, "amendedOrder": order }));
    let event = event("REPLACED", "NEW", 70, FIRST, &json!({ "q": "1" }));
    let (mut tracker, mut told) = replacing(ReplacingBy::Amendment);
    told.answer(&mut tracker, Amend, &amended).event(&mut tracker, &event);
    let (mut tracker, mut other) = replacing(ReplacingBy::Amendment);
    other.event(&mut tracker, &event).answer(&mut tracker, Amend, &amended);
    assert_eq!(told.lines(), other.lines());
    expect![[r#"
        5 replaced by 1 at Some(100) as 70
    "#]]
    .assert_eq(&told.lines());
    let (mut tracker, mut told) = replacing(ReplacingBy::Amendment);
    told.answer(&mut tracker, Amend, &failure(400, -2038, "Quantity can only be lowered."));
    expect![[r#"
        5 replace rejected: venue-refused: Quantity can only be lowered. (-2038 ORDER_AMEND_REJECTED)
    "#]]
    .assert_eq(&told.lines());
}

#[test]
fn a_late_confirmation_is_not_taken_for_the_next_replace() {
    let order = Order { id: ORDER, ..samples::order(ORDER.0) };
    // Each amendment is confirmed twice; the second time may come when the next one is under way.
    let (mut tracker, mut told) = replacing(ReplacingBy::Amendment);
    let first = event("REPLACED", "NEW", 70, FIRST, &json!({ "q": "1" }));
    told.event(&mut tracker, &first);
    tracker.on_replace(&order, Replacing { terms: terms("0.5", "100"), by: ReplacingBy::Amendment });
    told.event(&mut tracker, &first);
    told.event(&mut tracker, &event("REPLACED", "NEW", 70, FIRST, &json!({ "q": "0.5" })));
    assert_eq!(told.lines(), "5 replaced by 1 at Some(100) as 70\n5 replaced by 0.5 at Some(100) as 70\n");
    // The answer to the first cancel-replace comes behind its events.
    let (mut tracker, mut told) = by_leg();
    told.event(&mut tracker, &canceled(70, FIRST)).event(&mut tracker, &new(71, SECOND));
    let by = ReplacingBy::Leg { client_id: "R1-5-2".to_owned(), is_canceled: false };
    tracker.on_replace(&order, Replacing { terms: terms("1", "102"), by });
    told.answer(&mut tracker, CancelReplace, &success(&both_halves("SUCCESS", "SUCCESS", Value::Null)));
    told.event(&mut tracker, &canceled(71, SECOND)).event(&mut tracker, &new(72, "R1-5-2"));
    assert_eq!(told.lines(), "5 replaced by 1 at Some(101) as 71\n5 replaced by 1 at Some(102) as 72\n");
}

#[test]
fn the_cancelled_leg_of_a_replaced_order_does_not_end_it() {
    let success = success(&both_halves("SUCCESS", "SUCCESS", Value::Null));
    let (mut tracker, mut told) = by_leg();
    told.event(&mut tracker, &canceled(70, FIRST)).event(&mut tracker, &new(71, SECOND));
    told.answer(&mut tracker, CancelReplace, &success);
    let (mut second_tracker, mut other) = by_leg();
    other.answer(&mut second_tracker, CancelReplace, &success);
    other.event(&mut second_tracker, &canceled(70, FIRST)).event(&mut second_tracker, &new(71, SECOND));
    assert_eq!(told.lines(), other.lines());
    // A late fill of the old leg names it, and the new leg ends the order.
    told.event(&mut tracker, &trade(70, FIRST, 3, "0.1")).event(&mut tracker, &trade(71, SECOND, 4, "0.2"));
    told.event(&mut tracker, &event("CANCELED", "CANCELED", 71, "R1-5-2", &json!({ "C": SECOND })));
    expect![[r#"
        5 replaced by 1 at Some(101) as 71
        5 filled 0.1 at 100, BTCUSDT:3 of 70, 0.01 BNB
        5 filled 0.2 at 100, BTCUSDT:4 of 71, 0.01 BNB
        5 canceled: -
    "#]]
    .assert_eq(&told.lines());
}

#[test]
fn a_replace_that_takes_effect_after_a_question_or_a_restart_is_told() {
    // The question found the order as it was; the replace comes behind it.
    let (mut tracker, mut told) = by_leg();
    let shown = json!({
        "symbol": "BTCUSDT", "orderId": 70, "clientOrderId": FIRST, "price": "100", "origQty": "2", "executedQty": "0",
        "status": "NEW", "timeInForce": "GTC", "type": "LIMIT", "side": "BUY", "time": 1,
    });
    tracker.on_picture(ORDER, &[serde_json::from_value(shown).unwrap()]);
    tracker.on_session_end();
    told.event(&mut tracker, &canceled(70, FIRST)).event(&mut tracker, &new(71, SECOND));
    assert_eq!(told.lines(), "5 replaced by 1 at Some(101) as 71\n");
    // A process that has not sent it sees the end of the one leg and the begin of the other.
    let (mut tracker, mut told) = (crate::venue_words::tracker(), Told::default());
    for event in [new(70, FIRST), canceled(70, FIRST), new(71, SECOND), new(70, FIRST), canceled(71, SECOND)] {
        told.event(&mut tracker, &event);
    }
    assert_eq!(
        told.lines(),
        "5 accepted as 70\n5 canceled: -\n5 leg 70 canceled Done, leg 71 placed Done: -\n5 canceled: -\n"
    );
}

#[test]
fn a_replace_of_which_only_the_cancel_succeeded_ends_the_order() {
    let refused = json!({ "code": -2010, "msg": "Filter failure: NOTIONAL" });
    let half = json!({
        "id": 1, "status": 409,
        "error": { "code": -2021, "msg": "Order cancel-replace partially failed.", "data": both_halves("SUCCESS", "FAILURE", refused) },
    });
    let (mut tracker, mut told) = by_leg();
    told.event(&mut tracker, &canceled(70, FIRST)).answer(&mut tracker, CancelReplace, &answer(&half));
    expect![[r#"
        5 leg 70 canceled Done, leg - placed Refused: venue-notional: Filter failure: NOTIONAL (-2010)
    "#]]
    .assert_eq(&told.lines());
}

#[test]
fn a_new_leg_whose_old_one_is_not_surely_gone_is_told_half_by_half() {
    // Its event overtakes that of the cancel, which settles the old leg.
    let (mut tracker, mut told) = by_leg();
    told.event(&mut tracker, &new(71, SECOND)).event(&mut tracker, &canceled(70, FIRST));
    told.event(&mut tracker, &canceled(70, FIRST)).event(&mut tracker, &canceled(71, SECOND));
    expect![[r#"
        5 leg 70 canceled Unknown, leg 71 placed Done: -
        5 leg 70 is Canceled
        5 canceled: -
    "#]]
    .assert_eq(&told.lines());
    // The venue says that it did the second half alone; the engine cancels the old leg.
    let refused = json!({ "code": -2011, "msg": "Unknown order sent." });
    let halves = json!({
        "cancelResult": "FAILURE", "newOrderResult": "SUCCESS", "cancelResponse": refused,
        "newOrderResponse": { "symbol": "BTCUSDT", "orderId": 71, "clientOrderId": SECOND },
    });
    let half = json!({ "id": 1, "status": 409, "error": { "code": -2021, "msg": "partially failed", "data": halves } });
    let (mut tracker, mut told) = by_leg();
    told.answer(&mut tracker, CancelReplace, &answer(&half)).event(&mut tracker, &new(71, SECOND));
    tracker.on_leg_cancel(&Order { id: ORDER, ext_id: Some("71".into()), ..samples::order(ORDER.0) }, 70);
    told.event(&mut tracker, &canceled(70, FIRST));
    expect![[r#"
        5 leg 70 canceled Refused, leg 71 placed Done: -
        5 leg 70 is Canceled
    "#]]
    .assert_eq(&told.lines());
}

#[test]
fn the_end_of_a_leg_that_the_venue_confirmed_must_come_as_an_event() {
    let (mut tracker, mut told) = by_leg();
    told.event(&mut tracker, &new(71, SECOND));
    tracker.on_leg_cancel(&Order { id: ORDER, ext_id: Some("71".into()), ..samples::order(ORDER.0) }, 70);
    tracker.on_leg_canceled(ORDER, NOW);
    let late = NOW.plus_millis(EVENT_WITHIN_MILLIS);
    assert_eq!([tracker.overdue(late.plus_millis(-1)), tracker.overdue(late)], [None, Some(ORDER)]);
    told.event(&mut tracker, &canceled(70, FIRST));
    assert_eq!(tracker.overdue(late), None);
    // It was there before the answer.
    tracker.on_leg_canceled(ORDER, NOW);
    assert_eq!(tracker.overdue(late), None);
}

#[test]
fn a_replace_that_was_refused_leaves_the_order_and_one_without_an_outcome_is_unknown() {
    let (mut tracker, mut told) = by_leg();
    told.answer(&mut tracker, CancelReplace, &failure(400, -2022, "Order cancel-replace failed."));
    told.event(&mut tracker, &canceled(70, FIRST));
    let (mut tracker, mut lost) = by_leg();
    lost.answer(&mut tracker, CancelReplace, &failure(503, -1007, "Timeout waiting for response from backend server."));
    lost.event(&mut tracker, &canceled(70, FIRST)).event(&mut tracker, &new(71, SECOND));
    expect![[r#"
        5 replace rejected: venue-refused: Order cancel-replace failed. (-2022 CANCEL_REPLACE_FAILED)
        5 canceled: -
        5 unknown: Timeout waiting for response from backend server. (-1007 TIMEOUT), dead after Some(6000) ms
        5 replaced by 1 at Some(101) as 71
    "#]]
    .assert_eq(&(told.lines() + &lost.lines()));
    // An event contradicts the answer: the venue is asked.
    let (mut tracker, mut told) = by_leg();
    told.event(&mut tracker, &canceled(70, FIRST));
    told.answer(&mut tracker, CancelReplace, &failure(400, -2022, "Order cancel-replace failed."));
    expect![[r#"
        5 unknown: the venue's answer contradicts its events: venue-refused: Order cancel-replace failed. (-2022 CANCEL_REPLACE_FAILED), dead after Some(6000) ms
    "#]]
    .assert_eq(&told.lines());
}

#[test]
fn the_engine_says_by_which_leg_an_order_works() {
    let (mut tracker, mut told) = by_leg();
    told.event(&mut tracker, &new(71, SECOND));
    // The replace was given up meanwhile: the order works by its first leg, and the second one is cancelled.
    let order = Order { id: ORDER, ext_id: Some("70".into()), ..samples::order(ORDER.0) };
    tracker.on_leg_cancel(&order, 71);
    assert_eq!(tracker.reference(&order), Some(OrderReference::Venue(70)));
    let shown = |order_id: i64, client_id: &str, status: &str, time: i64| {
        let order = json!({
            "symbol": "BTCUSDT", "orderId": order_id, "clientOrderId": client_id, "price": "100", "origQty": "2",
            "executedQty": "0", "status": status, "timeInForce": "GTC", "type": "LIMIT", "side": "BUY", "time": time,
        });
        serde_json::from_value(order).unwrap()
    };
    // A question does not change that, neither before nor after the second leg is gone.
    tracker.on_picture(ORDER, &[shown(71, SECOND, "NEW", 2), shown(70, FIRST, "NEW", 1)]);
    told.event(&mut tracker, &canceled(71, SECOND));
    tracker.on_picture(ORDER, &[shown(71, SECOND, "CANCELED", 2), shown(70, FIRST, "NEW", 1)]);
    told.event(&mut tracker, &trade(71, SECOND, 8, "0.1"));
    assert_eq!(tracker.reference(&order), Some(OrderReference::Venue(70)));
    told.event(&mut tracker, &canceled(70, FIRST));
    expect![[r#"
        5 leg 70 canceled Unknown, leg 71 placed Done: -
        5 leg 71 is Canceled
        5 filled 0.1 at 100, BTCUSDT:8 of 71, 0.01 BNB
        5 canceled: -
    "#]]
    .assert_eq(&told.lines());
}
