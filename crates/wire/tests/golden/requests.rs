//! Request bodies: orders against the commands they become.

use domain::command::{MarketDataSubscription, ModifyOrder, PlaceOrder, RecordTransaction, RestatedFields};
use domain::{
    AccountId, ExchangeId, OrderKind, OrderType, Price, Quantity, RiskLimits, RiskScope, SecurityId, Side, StrategyId,
    TimeInForce, Timestamp, TradingState, TransactionKind,
};
use wire::limits::parse_limits;
use wire::operations::parse_import;
use wire::{BadBody, FieldError, FixNumbersBody, KillBody, OrderBody, StateBody, SubscriptionBody, TransactionBody};

use crate::samples::{self, number};

fn contract(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/json");
    std::fs::read(format!("{folder}/{name}.json")).unwrap()
}

fn place(order_type: OrderType, body: &[u8]) -> Result<PlaceOrder, Vec<FieldError>> {
    let body = OrderBody::parse(body).map_err(|bad| match bad {
        BadBody::Fields(errors) => errors,
        BadBody::NotJson(reason) => panic!("{reason}"),
    })?;
    body.to_place(order_type, &samples::reference_data())
}

fn modify(order_type: OrderType, body: &str) -> Result<ModifyOrder, Vec<FieldError>> {
    OrderBody::parse(body.as_bytes()).unwrap().to_modify(order_type, &samples::reference_data(), None)
}

fn told(errors: Vec<FieldError>) -> Vec<String> {
    errors.iter().map(|error| format!("{}: {} ({})", error.field, error.reason, error.code)).collect()
}

/// 100 AAPL at market, with nothing that could be left out.
fn plain(side: Side, kind: OrderKind) -> PlaceOrder {
    PlaceOrder {
        int_id: None,
        cl_ord_id: None,
        security: SecurityId(1),
        account: None,
        strategy: None,
        exchange: None,
        side,
        quantity: Quantity::from(100),
        kind,
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
        properties: domain::OrderProperties::default(),
        pass_through: None,
    }
}

fn price(digits: &str) -> Price {
    Price(number(digits))
}

/// 23:50 UTC of a day.
fn close(day: &str) -> Timestamp {
    let midnight = domain::calendar::next_midnight("UTC", samples::at(0)).unwrap();
    let days = match day {
        "2026-11-20" => 3,
        "2026-12-24" => 37,
        other => panic!("{other} is not in this test"),
    };
    midnight.plus_seconds(days * 86_400 + (23 * 60 + 50) * 60)
}

#[test]
fn a_market_order_needs_little() {
    assert_eq!(place(OrderType::Market, &contract("MarketOrderVO")), Ok(plain(Side::Buy, OrderKind::Market)));
}

#[test]
fn a_limit_order_may_say_everything() {
    let expected = PlaceOrder {
        int_id: "ALPHA-17".parse().ok(),
        account: Some(AccountId(1)),
        strategy: Some(StrategyId(2)),
        exchange: Some(ExchangeId(2)),
        tif: TimeInForce::Gtd { until: Timestamp::from_millis(1_795_046_400_000).unwrap() },
        exchange_order: true,
        reference: Some("my note".into()),
        ..plain(Side::Buy, OrderKind::Limit { limit: price("272.4") })
    };
    assert_eq!(place(OrderType::Limit, &contract("LimitOrderVO")), Ok(expected));
}

#[test]
fn a_stop_order_may_name_its_strategy_and_give_numbers_as_text() {
    let expected = PlaceOrder {
        strategy: Some(StrategyId(2)),
        tif: TimeInForce::Gtd { until: close("2026-11-20") },
        ..plain(Side::Sell, OrderKind::Stop { stop: price("270") })
    };
    assert_eq!(place(OrderType::Stop, &contract("StopOrderVO")), Ok(expected));
}

#[test]
fn a_stop_limit_order_has_both_prices() {
    let kind = OrderKind::StopLimit { limit: price("269.5"), stop: price("270") };
    let expected = PlaceOrder { tif: TimeInForce::Gtc, ..plain(Side::Sell, kind) };
    assert_eq!(place(OrderType::StopLimit, &contract("StopLimitOrderVO")), Ok(expected));
}

#[test]
fn a_good_till_date_ends_at_that_days_close_or_the_one_before() {
    let until = |date: &str| {
        let body = format!(r#"{{"securityId":1,"side":"BUY","quantity":1,"tif":"GTD","tifDateTime":"{date}"}}"#);
        place(OrderType::Market, body.as_bytes()).unwrap().tif
    };
    // A Friday, the Sunday after it, a half day.
    assert_eq!(until("2026-11-20"), TimeInForce::Gtd { until: close("2026-11-20") });
    assert_eq!(until("2026-11-22"), TimeInForce::Gtd { until: close("2026-11-20") });
    let noon = close("2026-12-24").plus_seconds(-(11 * 60 + 50) * 60);
    assert_eq!(until("2026-12-24"), TimeInForce::Gtd { until: noon });
}

#[test]
fn every_missing_field_is_named() {
    let errors = told(place(OrderType::StopLimit, b"{}").unwrap_err());
    let needed = ["securityId", "side", "quantity", "limit", "stop"];
    assert_eq!(errors, needed.map(|field| format!("{field}: is needed (missing)")));
}

#[test]
fn every_field_of_the_wrong_type_is_named() {
    let body = br#"{"intId": "two words", "securityId": "AAPL", "accountId": -1, "side": "LONG", "quantity": [1],
        "limit": "10,50", "stop": 1e-40, "tif": "FOREVER", "tifDateTime": "tomorrow", "exchangeOrder": 1,
        "reference": 7, "strategyName": 7}"#;
    let expected = [
        "intId: must be a text of 1 to 64 printable ASCII characters, other than . and .. (malformed-field)",
        "securityId: must be an id: an integer from 1 below 2^53 (malformed-field)",
        "accountId: must be an id: an integer from 1 below 2^53 (malformed-field)",
        "strategyName: must be a text (malformed-field)",
        "side: must be one of BUY, SELL (malformed-field)",
        "quantity: must be a number (malformed-field)",
        "limit: must be a number (malformed-field)",
        "stop: has more digits than can be kept exactly (amount-too-large)",
        "tif: must be one of DAY, GTC, ATO, IOC, FOK, GTD, ATC (malformed-field)",
        "tifDateTime: must be epoch milliseconds or a date YYYY-MM-DD (malformed-field)",
        "exchangeOrder: must be true or false (malformed-field)",
        "reference: must be a text (malformed-field)",
    ];
    assert_eq!(told(place(OrderType::Limit, body).unwrap_err()), expected);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let cases = [
        (r#""limit": 10"#, "limit: does not belong to a MarketOrder (not-needed)"),
        (r#""objectType": "LimitOrder""#, "objectType: must be MarketOrder here (field-fixed)"),
        (r#""tif": "GTD""#, "tifDateTime: is needed (missing)"),
        (r#""tif": "DAY", "tifDateTime": 1"#, "tifDateTime: belongs to GTD only (not-needed)"),
        (r#""tifDateTime": 1"#, "tifDateTime: belongs to GTD only (not-needed)"),
        (r#""strategyName": "NOBODY""#, "strategyName: strategy NOBODY is not known (unknown-strategy)"),
        (
            r#""strategyName": "MOMENTUM", "strategyId": 1"#,
            "strategyName: is not strategy 1, which strategyId names (conflicting-fields)",
        ),
        (
            r#""tif": "GTD", "tifDateTime": "2026-11-20", "exchangeId": 9"#,
            "exchangeId: exchange 9 is not known (unknown-exchange)",
        ),
    ];
    for (more, expected) in cases {
        let body = format!(r#"{{"securityId": 1, "side": "BUY", "quantity": 1, {more}}}"#);
        assert_eq!(told(place(OrderType::Market, body.as_bytes()).unwrap_err()), [expected], "{more}");
    }
}

#[test]
fn a_date_for_an_unknown_security_cannot_be_placed_in_a_calendar() {
    let body = br#"{"securityId": 99, "side": "BUY", "quantity": 1, "tif": "GTD", "tifDateTime": "2026-11-20"}"#;
    let errors = told(place(OrderType::Market, body).unwrap_err());
    assert_eq!(errors, ["securityId: security 99 is not known (unknown-security)"]);
}

#[test]
fn a_modification_changes_what_it_names() {
    let expected = ModifyOrder {
        int_id: "ALPHA-2".parse().unwrap(),
        cl_ord_id: None,
        quantity: None,
        limit: Some(price("272.5")),
        stop: None,
        tif: None,
        restated: RestatedFields { kind: Some(OrderKind::Limit { limit: Price::ZERO }), ..RestatedFields::default() },
        reference: None,
    };
    assert_eq!(modify(OrderType::Limit, r#"{"intId": "ALPHA-2", "limit": 272.50}"#), Ok(expected));
}

#[test]
fn properties_of_an_order_are_read() {
    let body = r#"{"securityId": 1, "side": "BUY", "quantity": 100, "limit": 10, "postOnly": true,
        "displayQuantity": "25", "minQuantity": 50, "reduceOnly": true}"#;
    let kind = OrderKind::Limit { limit: price("10") };
    let properties = domain::OrderProperties {
        post_only: true,
        display_quantity: Some(Quantity::from(25)),
        min_quantity: Some(Quantity::from(50)),
        reduce_only: true,
    };
    let expected = PlaceOrder { quantity: Quantity::from(100), properties, ..plain(Side::Buy, kind) };
    assert_eq!(place(OrderType::Limit, body.as_bytes()), Ok(expected));
}

#[test]
fn an_order_as_it_was_read_can_be_sent_back_as_a_modification() {
    let order = samples::orders().remove(1);
    let body = String::from_utf8(wire::json::encode(&wire::OrderVO::from_domain(&order))).unwrap();
    let expected = ModifyOrder {
        int_id: order.int_id,
        cl_ord_id: None,
        quantity: Some(Quantity::from(100)),
        limit: Some(price("272.4")),
        stop: None,
        tif: Some(TimeInForce::Gtc),
        restated: RestatedFields {
            side: Some(Side::Buy),
            security: Some(SecurityId(1)),
            account: Some(AccountId(1)),
            kind: Some(OrderKind::Limit { limit: Price::ZERO }),
            strategy: Some(order.strategy),
            exchange: Some(order.exchange),
            order: None,
            post_only: Some(true),
            display_quantity: Some(Quantity::from(25)),
            ..RestatedFields::default()
        },
        reference: order.reference,
    };
    assert_eq!(modify(OrderType::Limit, &body), Ok(expected));
}

#[test]
fn a_new_date_needs_no_time_in_force_beside_it() {
    let body = r#"{"intId": "ALPHA-3", "securityId": 1, "tifDateTime": "2026-11-20"}"#;
    assert_eq!(modify(OrderType::Stop, body).unwrap().tif, Some(TimeInForce::Gtd { until: close("2026-11-20") }));
    let errors = told(modify(OrderType::Stop, r#"{"tifDateTime": "2026-11-20"}"#).unwrap_err());
    assert_eq!(errors, ["intId: is needed (missing)", "securityId: is needed (missing)"]);
}

#[test]
fn limits_go_out_and_come_back() {
    let (scope, change) = parse_limits(&contract("LimitsVO")).unwrap();
    assert_eq!((scope, change.named.len()), (RiskScope::Platform, 20));
    assert_eq!(RiskLimits::default().changed_by(&change), samples::limits());
    let errors = faults_of_limits(r#"{"scope": "WORLD", "duplicateGuard": 5}"#);
    let expected = [
        "scope: must be PLATFORM, ACCOUNT-<id>, STRATEGY-<id> or SECURITY-<id> (malformed-field)",
        "duplicateGuard: must be an object with whole numbers count and millis (malformed-field)",
    ];
    assert_eq!(errors, expected);
}

fn faults_of_limits(body: &str) -> Vec<String> {
    match parse_limits(body.as_bytes()) {
        Err(BadBody::Fields(errors)) => told(errors),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_named_limits_change_and_null_removes_one() {
    let (_, change) = parse_limits(br#"{"scope": "PLATFORM", "maxOpenOrders": 7, "cashCheck": null}"#).unwrap();
    let before = samples::limits();
    let expected = RiskLimits { max_open_orders: Some(7), cash_check: None, ..before.clone() };
    assert_eq!(before.changed_by(&change), expected);
    let nothing = parse_limits(br#"{"scope": "PLATFORM"}"#).unwrap().1;
    assert_eq!(before.changed_by(&nothing), before);
}

#[test]
fn a_limit_that_is_misspelt_or_senseless_is_named() {
    let cases = [
        (
            r#"{"scope": "PLATFORM", "maxOrderQuanity": 10}"#,
            "maxOrderQuanity: is not known here; did you mean 'maxOrderQuantity'? (unknown-field)",
        ),
        (r#"{"scope": "PLATFORM", "maxOrderQuantity": -5}"#, "maxOrderQuantity: must be more than zero (not-positive)"),
        (r#"{"scope": "PLATFORM", "maxLong": 0}"#, "maxLong: must be more than zero (not-positive)"),
        (
            r#"{"scope": "PLATFORM", "priceCollarPercent": "0.0"}"#,
            "priceCollarPercent: must be more than zero (not-positive)",
        ),
        (r#"{"scope": "PLATFORM", "maxOpenOrders": -1}"#, "maxOpenOrders: must not be below zero (too-small)"),
        (
            r#"{"scope": "PLATFORM", "maxOpenOrders": 1.5}"#,
            "maxOpenOrders: must be a whole number from 0 (malformed-field)",
        ),
        (
            r#"{"scope": "PLATFORM", "duplicateGuard": {"count": 0, "millis": 0}}"#,
            "duplicateGuard: count and millis must be more than zero (not-positive)",
        ),
        (
            r#"{"scope": "PLATFORM", "rejectBreaker": {"count": 3, "millis": 5, "colour": 1}}"#,
            "rejectBreaker: must be an object with whole numbers count and millis (malformed-field)",
        ),
        (
            r#"{"scope": "PLATFORM", "restrictedSecurities": 3}"#,
            "restrictedSecurities: must be a list of ids (malformed-field)",
        ),
        (
            r#"{"scope": "PLATFORM", "restrictedSecurities": [3, "x"]}"#,
            "restrictedSecurities: must be an id: an integer from 1 below 2^53 (malformed-field)",
        ),
        (
            r#"{"scope": "SECURITY-3", "restrictedSecurities": [3]}"#,
            "restrictedSecurities: belongs to an account, a strategy or the platform (not-needed)",
        ),
        (r#"{"scope": "PLATFORM", "messagesPerSecond": -1}"#, "messagesPerSecond: must not be below zero (too-small)"),
        (r#"{"maxOpenOrders": 5}"#, "scope: is needed (missing)"),
    ];
    for (body, fault) in cases {
        assert_eq!(faults_of_limits(body), [fault], "{body}");
    }
}

#[test]
fn a_trading_state_needs_scope_and_state() {
    let body = br#"{"scope": "ACCOUNT-1", "state": "HALTED", "reason": "lunch"}"#;
    let (scope, reason) = (RiskScope::Account(AccountId(1)), Some("lunch".into()));
    assert_eq!(StateBody::parse(body), Ok(StateBody { scope, state: TradingState::Halted, reason }));
    let missing = vec![FieldError::missing("scope"), FieldError::missing("state")];
    assert_eq!(StateBody::parse(b"{}"), Err(BadBody::Fields(missing)));
}

#[test]
fn the_kill_switch_requires_a_scope() {
    for body in [&b""[..], b"{}", br#"{"reason": "fire"}"#, br#"{"scope": null}"#] {
        assert_eq!(KillBody::parse(body), Err(BadBody::Fields(vec![FieldError::missing("scope")])));
    }
    let Err(BadBody::Fields(errors)) = KillBody::parse(br#"{"scop": "ACCOUNT-2"}"#) else { panic!("it is misspelt") };
    let expected = ["scop: is not known here; did you mean 'scope'? (unknown-field)", "scope: is needed (missing)"];
    assert_eq!(told(errors), expected);
    let body = br#"{"scope": "STRATEGY-2", "reason": "runs wild"}"#;
    let (scope, reason) = (RiskScope::Strategy(StrategyId(2)), Some("runs wild".into()));
    assert_eq!(KillBody::parse(body), Ok(KillBody { scope, reason }));
}

fn record(body: &[u8]) -> Result<RecordTransaction, Vec<String>> {
    let body = TransactionBody::parse(body).map_err(|bad| match bad {
        BadBody::Fields(errors) => told(errors),
        BadBody::NotJson(reason) => panic!("{reason}"),
    })?;
    body.to_record(&samples::reference_data()).map_err(told)
}

#[test]
fn a_transaction_as_it_was_read_can_be_recorded() {
    let booked = samples::transaction();
    let expected = RecordTransaction {
        uuid: Some(booked.uuid),
        at: Timestamp::from_millis(booked.at.millis()),
        settlement_date: booked.settlement_date,
        ext_id: booked.ext_id,
        int_order_id: booked.int_order_id,
        ext_order_id: booked.ext_order_id,
        kind: booked.kind,
        quantity: Some(booked.quantity),
        price: booked.price,
        execution_commission: Some(booked.execution_commission),
        clearing_commission: Some(booked.clearing_commission),
        fee: Some(booked.fee),
        currency: Some(booked.currency),
        account: Some(booked.account),
        security: booked.security,
        strategy: Some(booked.strategy),
        description: None,
    };
    assert_eq!(record(&contract("TransactionVO")), Ok(expected));
}

#[test]
fn a_transaction_needs_type_and_price_and_may_name_its_strategy() {
    let credit = record(br#"{"type": "CREDIT", "price": "1000.50", "currency": "USD", "strategyName": "MOMENTUM"}"#);
    let credit = credit.unwrap();
    assert_eq!((credit.kind, credit.price, credit.quantity), (TransactionKind::Credit, price("1000.5"), None));
    assert_eq!((credit.strategy, credit.account, credit.uuid), (Some(StrategyId(2)), None, None));
    let needed = ["type: is needed (missing)", "price: is needed (missing)"];
    assert_eq!(record(b"{}").unwrap_err(), needed);
    let unknown = record(br#"{"type": "CREDIT", "price": 1, "strategyName": "NOBODY"}"#).unwrap_err();
    assert_eq!(unknown, ["strategyName: strategy NOBODY is not known (unknown-strategy)"]);
}

#[test]
fn every_fault_of_a_transaction_is_named() {
    let body = br#"{"type": "GIFT", "price": "much", "uuid": "x", "dateTime": "noon", "settlementDate": 20261118,
        "extId": 7, "intOrderId": "two words", "quantity": true, "currency": "usd", "accountId": 0}"#;
    let expected = [
        "type: must be one of BUY, SELL, EXPIRATION, TRANSFER, CREDIT, DEBIT, INTEREST_PAID, INTEREST_RECEIVED, \
         DIVIDEND, FEES, REFUND (malformed-field)",
        "price: must be a number (malformed-field)",
        "uuid: must be a UUID such as 123e4567-e89b-42d3-a456-426614174000 (malformed-field)",
        "dateTime: must be epoch milliseconds (malformed-field)",
        "settlementDate: must be a date YYYY-MM-DD (malformed-field)",
        "extId: must be a text (malformed-field)",
        "intOrderId: must be a text of 1 to 64 printable ASCII characters, other than . and .. (malformed-field)",
        "quantity: must be a number (malformed-field)",
        "currency: must be a currency such as USD (malformed-field)",
        "accountId: must be an id: an integer from 1 below 2^53 (malformed-field)",
    ];
    assert_eq!(record(body).unwrap_err(), expected);
}

#[test]
fn a_subscription_is_for_a_strategy_by_name() {
    let reference = samples::reference_data();
    let parse = |body: &[u8]| SubscriptionBody::parse(body).unwrap();
    let wish = MarketDataSubscription { strategy: StrategyId(2), security: SecurityId(1) };
    let body = parse(&contract("SubscriptionVO"));
    assert_eq!(body.to_subscribe(&reference), Ok(wish));
    assert_eq!(body.to_unsubscribe(&reference), Ok(wish));
    let server = parse(br#"{"strategyName": "SERVER", "securityId": 1}"#);
    assert_eq!(server.to_subscribe(&reference).unwrap().strategy, StrategyId::SERVER);

    let off = parse(br#"{"strategyName": "MOMENTUM", "securityId": 1, "subscribe": false}"#);
    assert_eq!(off.to_unsubscribe(&reference), Ok(wish));
    let reason = "subscribe: is false, but this path subscribes; the other one unsubscribes (not-subscribing)";
    assert_eq!(told(off.to_subscribe(&reference).unwrap_err()), [reason]);
    let nobody = parse(br#"{"strategyName": "NOBODY", "securityId": 1}"#);
    let reason = "strategyName: strategy NOBODY is not known (unknown-strategy)";
    assert_eq!(told(nobody.to_subscribe(&reference).unwrap_err()), [reason]);
    let errors = vec![FieldError::missing("strategyName"), FieldError::missing("securityId")];
    assert_eq!(SubscriptionBody::parse(b"{}"), Err(BadBody::Fields(errors)));
}

#[test]
fn an_operator_names_folders_and_numbers() {
    assert_eq!(parse_import(br#"{"path": "/srv/desk"}"#), Ok("/srv/desk".into()));
    for body in [r#"{"path": "desk"}"#, r#"{"path": 7}"#, "{}"] {
        assert!(matches!(parse_import(body.as_bytes()), Err(BadBody::Fields(_))), "{body}");
    }
    let numbers = FixNumbersBody { next_in: None, next_out: Some(7) };
    assert_eq!(FixNumbersBody::parse(br#"{"nextOut": 7}"#), Ok(numbers));
    assert!(FixNumbersBody::parse(br#"{"nextOut": 1099511627775}"#).is_ok());
    assert!(matches!(FixNumbersBody::parse(br#"{"nextOut": 1099511627776}"#), Err(BadBody::Fields(_))));
    assert_eq!(FixNumbersBody::parse(b"{}"), Err(BadBody::Fields(vec![FieldError::missing("nextIn")])));
}
