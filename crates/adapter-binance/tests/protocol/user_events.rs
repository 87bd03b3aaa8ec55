//! Events of the user data stream, in the documentation's payloads.

use adapter_binance::protocol::user_events::{UserEvent, decode_user_event};
use expect_test::expect;
use serde_json::{Value, json};

fn execution() -> Value {
    json!({
        "e": "executionReport", "E": 1499405658658_i64, "s": "ETHBTC", "c": "mUvoqJxFIILMdfAW5iGSOW", "S": "BUY",
        "o": "LIMIT", "f": "GTC", "q": "1.00000000", "p": "0.10264410", "P": "0.00000000", "F": "0.00000000",
        "g": -1, "C": "", "x": "NEW", "X": "NEW", "r": "NONE", "i": 4293153, "l": "0.00000000", "z": "0.00000000",
        "L": "0.00000000", "n": "0", "N": null, "T": 1499405658657_i64, "t": -1, "v": 3, "I": 8641984, "w": true,
        "m": false, "M": false, "O": 1499405658657_i64, "Z": "0.00000000", "Y": "0.00000000", "Q": "0.00000000",
        "W": 1499405658657_i64, "V": "NONE",
    })
}

fn with(changes: Value) -> Value {
    let mut event = execution();
    event.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    event
}

#[test]
fn every_event_of_the_documentation() {
    let events = [
        json!({"e": "outboundAccountPosition", "E": 1564034571105_i64, "u": 1564034571073_i64,
            "B": [{"a": "ETH", "f": "10000.000000", "l": "0.000000"}]}),
        json!({"e": "balanceUpdate", "E": 1573200697110_i64, "a": "BTC", "d": "-100.00000000", "T": 1573200697068_i64}),
        json!({"e": "externalLockUpdate", "E": 1581557507324_i64, "a": "NEO", "d": "10.0", "T": 1581557507268_i64}),
        json!({"e": "listStatus", "E": 1564035303637_i64, "s": "ETHBTC", "g": 2, "O": []}),
        json!({"e": "eventStreamTerminated", "E": 1728973001334_i64}),
        json!({"e": "serverShutdown", "E": 1770123456789_i64}),
        json!({"e": "ofTomorrow", "E": "when"}),
        json!({"e": "balanceUpdate", "E": 1573200697110_i64, "a": "BTC", "T": 1573200697068_i64}),
        json!({"s": "BTCUSDT"}),
        json!(null),
    ];
    let lines: String = events.iter().map(|event| format!("{:?}\n", decode_user_event(event))).collect();
    expect![[r#"
        Ok(Balances(BalancesEvent { at: Some(WireInteger(1564034571073)), balances: [AssetBalance { asset: "ETH", free: WireDecimal(10000.000000), locked: WireDecimal(0.000000) }] }))
        Ok(BalanceMoved(BalanceMovedEvent { event_at: WireInteger(1573200697110), asset: "BTC", delta: WireDecimal(-100.00000000), at: WireInteger(1573200697068) }))
        Ok(ExternalLock(BalanceMovedEvent { event_at: WireInteger(1581557507324), asset: "NEO", delta: WireDecimal(10.0), at: WireInteger(1581557507268) }))
        Ok(ListStatus)
        Ok(StreamTerminated)
        Ok(ServerShutdown)
        Ok(Other("ofTomorrow"))
        Err(UnreadableEvent("balanceUpdate: missing field `d`"))
        Err(UnreadableEvent("it has no type: {\"s\":\"BTCUSDT\"}"))
        Err(UnreadableEvent("it has no type: null"))
    "#]].assert_eq(&lines);
}

#[test]
fn an_execution_has_all_that_an_order_needs() {
    let Ok(UserEvent::Execution(read)) = decode_user_event(&execution()) else { panic!("no execution") };
    expect![[r#"
        ExecutionEvent { event_at: WireInteger(1499405658658), symbol: "ETHBTC", client_id: "mUvoqJxFIILMdfAW5iGSOW", original_client_id: Some(""), side: Buy, kind: Limit, tif: Gtc, quantity: WireDecimal(1.00000000), price: WireDecimal(0.10264410), stop_price: WireDecimal(0.00000000), iceberg: WireDecimal(0.00000000), execution: New, status: New, reject_reason: Some("NONE"), expiry_reason: None, order_id: WireInteger(4293153), last_quantity: WireDecimal(0.00000000), filled: WireDecimal(0.00000000), last_price: WireDecimal(0.00000000), commission: Some(WireDecimal(0)), commission_asset: None, at: WireInteger(1499405658657), created: Some(WireInteger(1499405658657)), trade_id: Some(WireInteger(-1)), is_maker: Some(false), quote_quantity: Some(WireDecimal(0.00000000)), prevented: None }
    "#]]
    .assert_eq(&format!("{read:?}\n"));
}

#[test]
fn a_trade_has_its_commission_and_its_side_of_the_book() {
    let trade = with(json!({
        "x": "TRADE", "X": "PARTIALLY_FILLED", "t": "77", "l": "0.4", "z": 0.4, "L": "0.1026", "n": "0.000075",
        "N": "BNB", "m": true, "field": "of tomorrow", "o": "ICE_CREAM",
    }));
    let Ok(UserEvent::Execution(read)) = decode_user_event(&trade) else { panic!("no execution") };
    assert_eq!((read.trade_id.map(|id| id.0), read.is_maker), (Some(77), Some(true)));
    assert_eq!(read.commission.map(|amount| amount.0.to_string()).as_deref(), Some("0.000075"));
    assert_eq!((read.commission_asset.as_deref(), read.kind.as_str()), (Some("BNB"), "ICE_CREAM"));
}

#[test]
fn a_cancel_names_the_order_that_it_cancelled() {
    let id_of = |changes| match decode_user_event(&with(changes)) {
        Ok(UserEvent::Execution(read)) => read.order_client_id().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(id_of(json!({"x": "CANCELED", "X": "CANCELED", "c": "cancel", "C": "order"})), "order");
    assert_eq!(id_of(json!({"x": "EXPIRED", "X": "EXPIRED", "c": "order", "C": ""})), "order");
    assert_eq!(id_of(json!({"x": "EXPIRED", "X": "EXPIRED", "c": "order", "C": null})), "order");
    // An amended order has its newest id in front.
    assert_eq!(id_of(json!({"x": "REPLACED", "X": "NEW", "c": "order", "C": "before"})), "order");
}

#[test]
fn an_execution_that_lacks_what_is_needed_is_told() {
    let mut event = execution();
    event.as_object_mut().unwrap().remove("i");
    let refused = decode_user_event(&event).unwrap_err();
    assert_eq!(refused.0, "executionReport: missing field `i`");
    let refused = decode_user_event(&with(json!({"q": "many"}))).unwrap_err();
    assert_eq!(refused.0, "executionReport: \"many\" is not an amount");
}
