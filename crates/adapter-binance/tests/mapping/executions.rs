//! Executions: the same fill from the stream and from the list, and what each event means.

use adapter_binance::executions::{BinanceFill, meaning_of_execution, state_of};
use adapter_binance::protocol::account_answers::BinanceTrade;
use adapter_binance::protocol::user_events::ExecutionEvent;
use adapter_binance::protocol::venue_enums::BinanceOrderStatus;
use domain::Currency;
use expect_test::expect;
use serde_json::{Value, json};

fn event(changes: Value) -> ExecutionEvent {
    let mut event = json!({
        "e": "executionReport", "E": 1499405658658_i64, "s": "币安人生USDT", "c": "R1-1Z-0", "S": "BUY", "o": "LIMIT",
        "f": "GTC", "q": "10", "p": "1.5", "x": "NEW", "X": "NEW", "r": "NONE", "i": 28, "l": "0", "z": "0", "L": "0",
        "n": "0", "N": null, "T": 1499405658657_i64, "t": -1, "m": false,
    });
    event.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(event).unwrap()
}

fn trade(commission: &str, asset: &str) -> BinanceTrade {
    serde_json::from_value(json!({
        "symbol": "币安人生USDT", "id": 77, "orderId": 28, "price": "1.50000000", "qty": "4.00000000",
        "commission": commission, "commissionAsset": asset, "time": 1499405658657_i64, "isBuyer": true,
        "isMaker": true,
    }))
    .unwrap()
}

fn traded(commission: Value, asset: Value) -> ExecutionEvent {
    event(json!({
        "x": "TRADE", "X": "PARTIALLY_FILLED", "t": 77, "l": "4", "z": "4", "L": "1.5", "n": commission, "N": asset,
        "m": true,
    }))
}

#[test]
fn a_fill_is_the_same_from_the_stream_and_from_the_list() {
    let listed = BinanceFill::of_trade(&trade("0.00007500", "BNB")).unwrap();
    let streamed = BinanceFill::of_execution(&traded(json!("0.000075"), json!("BNB"))).unwrap();
    assert_eq!(listed, streamed);
    assert_eq!(listed.exec_id().to_string(), "币安人生USDT:77");
    let quote: Currency = "USDT".parse().unwrap();
    let charge = listed.charge(quote).unwrap();
    assert_eq!((charge.amount.to_string(), charge.currency.to_string()), ("0.000075".to_owned(), "BNB".to_owned()));
}

#[test]
fn a_commission_of_zero_is_zero_in_the_quote_asset() {
    let listed = BinanceFill::of_trade(&trade("0.00000000", "BNB")).unwrap();
    let streamed = BinanceFill::of_execution(&traded(json!("0"), json!(null))).unwrap();
    let absent = BinanceFill::of_execution(&traded(json!(null), json!(null))).unwrap();
    assert_eq!([&streamed, &absent].map(|fill| fill == &listed), [true, true]);
    let charge = listed.charge("USDT".parse().unwrap()).unwrap();
    assert_eq!((charge.amount.is_zero(), charge.currency.to_string()), (true, "USDT".to_owned()));
}

#[test]
fn a_commission_in_a_new_asset_is_booked_in_it() {
    let fill = BinanceFill::of_trade(&trade("0.5", "币安人生")).unwrap();
    assert_eq!(fill.charge("USDT".parse().unwrap()).unwrap().currency.to_string(), "币安人生");
}

#[test]
fn every_event_has_a_meaning() {
    let events = [
        event(json!({})),
        traded(json!("0.000075"), json!("BNB")),
        event(json!({"x": "TRADE", "X": "PARTIALLY_FILLED", "t": 77, "l": "0", "L": "1.5"})),
        event(json!({"x": "TRADE", "X": "FILLED", "t": -1, "l": "4", "L": "1.5"})),
        event(json!({"x": "CANCELED", "X": "CANCELED", "c": "R1-1Z-1", "C": "R1-1Z-0"})),
        event(json!({"x": "EXPIRED", "X": "EXPIRED", "eR": "UNFILLED_IOC_QUANTITY_EXPIRED"})),
        event(json!({"x": "EXPIRED", "X": "EXPIRED"})),
        event(json!({"x": "TRADE_PREVENTION", "X": "EXPIRED_IN_MATCH", "v": 3, "A": "3.0"})),
        event(json!({"x": "TRADE_PREVENTION", "X": "NEW", "v": 3, "A": "3.0"})),
        event(json!({"x": "TRADE_PREVENTION", "X": "NEW"})),
        event(json!({"x": "REJECTED", "X": "REJECTED", "r": "WOULD_MATCH_IMMEDIATELY"})),
        event(json!({"x": "REJECTED", "X": "REJECTED"})),
        event(json!({"x": "REPLACED", "X": "NEW", "q": "6"})),
        event(json!({"x": "CANCELED", "X": "NEW"})),
        event(json!({"x": "OF_TOMORROW", "X": "NEW"})),
    ];
    let lines: String = events.iter().map(|event| format!("{:?}\n", meaning_of_execution(event))).collect();
    expect![[r#"
        Accepted
        Filled(BinanceFill { symbol: "币安人生USDT", order_id: 28, trade_id: 77, quantity: 4, price: 1.5, at: Some(2017-07-07T05:34:18.657Z), commission: 0.000075, commission_asset: Some("BNB"), liquidity: Some(Maker) })
        Nothing
        Unclear
        Canceled { reason: None }
        Expired { reason: Some("UNFILLED_IOC_QUANTITY_EXPIRED") }
        Expired { reason: None }
        Expired { reason: Some("self-trade prevention") }
        Amended
        Unclear
        Rejected { reason: "WOULD_MATCH_IMMEDIATELY" }
        Rejected { reason: "rejected by the venue" }
        Amended
        Unclear
        Unclear
    "#]].assert_eq(&lines);
}

#[test]
fn a_status_that_is_not_known_concludes_nothing() {
    let statuses = [
        "NEW",
        "PENDING_NEW",
        "PARTIALLY_FILLED",
        "FILLED",
        "CANCELED",
        "PENDING_CANCEL",
        "REJECTED",
        "EXPIRED",
        "EXPIRED_IN_MATCH",
        "OF_TOMORROW",
    ];
    let lines: String =
        statuses.map(|text| format!("{text} {:?}\n", state_of(&BinanceOrderStatus::from(text)))).concat();
    expect![[r#"
        NEW Some(Live)
        PENDING_NEW Some(Live)
        PARTIALLY_FILLED Some(Live)
        FILLED Some(Live)
        CANCELED Some(Canceled)
        PENDING_CANCEL Some(Live)
        REJECTED Some(Rejected)
        EXPIRED Some(Expired)
        EXPIRED_IN_MATCH Some(Expired)
        OF_TOMORROW None
    "#]]
    .assert_eq(&lines);
}
