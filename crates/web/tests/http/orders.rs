//! Orders: place, change, cancel.

use domain::command::{CancelOrder, ClaimOrder, PlaceOrder, ReducePosition};
use domain::refusal::DuplicateOrder;
use domain::{
    AccountId, AdapterName, Answer, Caller, Command, CommandEnvelope, Decimal, IntId, OrderKind, PositionId, Price,
    Query, Refusal, SecurityId, Side, Source, StrategyId, TimeInForce,
};
use expect_test::expect;

use crate::test_server::{TestServer, code, order, status};

const LIMIT_ORDER: &str = r#"{"securityId": 1, "side": "BUY", "quantity": 100, "limit": 272.40, "mood": "good"}"#;

fn accepting(int_id: &'static str) -> TestServer {
    TestServer::open(move |_| Ok(Answer::Order(order(int_id))))
}

fn refusing(refusal: Refusal) -> TestServer {
    TestServer::open(move |_| Err(refusal.clone()))
}

fn limit_order() -> PlaceOrder {
    PlaceOrder {
        int_id: None,
        cl_ord_id: None,
        security: SecurityId(1),
        account: None,
        strategy: None,
        exchange: None,
        side: Side::Buy,
        quantity: 100.into(),
        kind: OrderKind::Limit { limit: Price(Decimal::new(2_724, 1)) },
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
        properties: domain::OrderProperties::default(),
        pass_through: None,
    }
}

fn from_rest(command: Command) -> CommandEnvelope {
    CommandEnvelope { caller: Caller::new(Source::Rest, None), command }
}

#[test]
fn an_accepted_order_is_200_without_a_body_and_says_where_it_is() {
    let server = accepting("ALPHA-1");
    expect![[r#"
        HTTP/1.1 200 OK
        location: /rest/execution/order/ALPHA-1
        rialto-sequence: 4711
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        connection: close
        content-length: 0

    "#]]
    .assert_eq(&server.post("/rest/execution/order/limit", LIMIT_ORDER));
    assert_eq!(server.commands(), [from_rest(Command::Place(limit_order()))]);
}

#[test]
fn an_order_typed_in_the_ui_is_the_uis() {
    let server = accepting("ALPHA-1");
    let headers = "Content-Type: application/json; charset=utf-8\r\nRialto-Source: UI\r\n";
    server.call("POST", "/rest/execution/order/limit", headers, LIMIT_ORDER);
    assert_eq!(server.commands()[0].caller.source, Source::Ui);
}

#[test]
fn every_type_of_order_has_its_path() {
    let server = accepting("ALPHA-1");
    let (limit, stop) = (Price::from(10), Price::from(9));
    let cases = [
        ("market", "", OrderKind::Market),
        ("limit", r#", "limit": 10"#, OrderKind::Limit { limit }),
        ("stop", r#", "stop": 9"#, OrderKind::Stop { stop }),
        ("stoplimit", r#", "limit": 10, "stop": 9"#, OrderKind::StopLimit { limit, stop }),
    ];
    for (path, prices, kind) in cases {
        let body = format!(r#"{{"securityId": 1, "side": "BUY", "quantity": 100{prices}}}"#);
        let answer = server.post(&format!("/rest/execution/order/{path}"), &body);
        assert_eq!(status(&answer), "HTTP/1.1 200 OK", "{path}");
        assert_eq!(server.commands(), [from_rest(Command::Place(PlaceOrder { kind, ..limit_order() }))]);
    }
}

#[test]
fn an_order_whose_id_has_a_meaning_in_paths_is_still_found() {
    let location = |int_id| {
        let answer = accepting(int_id).post("/rest/execution/order/limit", LIMIT_ORDER);
        answer.lines().find_map(|line| line.strip_prefix("location: ").map(ToString::to_string)).unwrap()
    };
    assert_eq!(location("a/b?c%d"), "/rest/execution/order/a%2Fb%3Fc%25d");
    assert_eq!(location("stop"), "/rest/execution/order/%73%74%6F%70");

    let server = TestServer::open(|_| Ok(Answer::Orders(vec![order("stop")])));
    assert_eq!(status(&server.get("/rest/execution/order/%73%74%6F%70")), "HTTP/1.1 200 OK");
    assert_eq!(server.queries(), [Query::Order("stop".into())]);
}

#[test]
fn a_second_order_with_the_same_id_is_shown_the_first() {
    let known = DuplicateOrder { int_id: "A-1".parse().unwrap(), order: Some(order("A-1")) };
    let server = refusing(Refusal::DuplicateOrder(known));
    expect![[r#"
        HTTP/1.1 409 Conflict
        content-type: application/problem+json
        location: /rest/execution/order/A-1
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        content-length: 719
        connection: close

        {"type":"urn:rialto:problem:duplicate-order","title":"Conflict","status":409,"detail":"an order with the id A-1 exists already and was not touched","code":"duplicate-order","errors":[{"field":"intId","code":"duplicate-order","reason":"an order with the id A-1 exists already and was not touched"}],"order":{"objectType":"LimitOrder","id":7,"intId":"A-1","extId":null,"clOrdId":null,"dateTime":1794839400000,"side":"BUY","quantity":100,"tif":"DAY","tifDateTime":null,"exchangeOrder":false,"exchangeId":1,"securityId":1,"accountId":1,"strategyId":1,"status":"OPEN","filledQuantity":0,"remainingQuantity":100,"avgPrice":null,"reason":null,"inDoubt":false,"reference":null,"source":"REST","submittedBy":null,"limit":272.4}}"#]]
    .assert_eq(&server.post("/rest/execution/order/limit", LIMIT_ORDER));
}

#[test]
fn a_refusal_has_the_status_of_its_kind() {
    let int_id: IntId = "A-1".parse().unwrap();
    let adapter = AdapterName::new("SIMULATED", None);
    let cases = [
        (Refusal::NotTradeable(SecurityId(1)), "422 not-tradeable"),
        (Refusal::NotPositive { field: "quantity", value: Decimal::ZERO }, "422 not-positive"),
        (Refusal::UnknownSecurity(SecurityId(9)), "422 unknown-security"),
        (Refusal::OrderClosed(int_id.clone()), "409 order-closed"),
        (Refusal::CancelPending(int_id), "409 cancel-pending"),
        (Refusal::AdapterDown(adapter), "503 adapter-down"),
    ];
    for (refusal, expected) in cases {
        assert_eq!(code(&refusing(refusal).post("/rest/execution/order/limit", LIMIT_ORDER)), expected);
    }
}

#[test]
fn an_adapter_that_is_down_is_worth_another_try() {
    let server = refusing(Refusal::AdapterDown(AdapterName::new("SIMULATED", None)));
    let answer = server.post("/rest/execution/order/limit", LIMIT_ORDER);
    assert!(answer.contains("\nretry-after: 1\n"), "{answer}");
}

#[test]
fn every_bad_field_is_named_and_nothing_is_sent() {
    let server = accepting("A-1");
    let body = r#"{"securityId": "one", "side": "BUY", "quantity": true}"#;
    expect![[r#"
        HTTP/1.1 400 Bad Request
        content-type: application/problem+json
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        content-length: 386
        connection: close

        {"type":"urn:rialto:problem:malformed-field","title":"Bad Request","status":400,"detail":"securityId must be an id: an integer from 1 below 2^53; quantity must be a number","code":"malformed-field","errors":[{"field":"securityId","code":"malformed-field","reason":"must be an id: an integer from 1 below 2^53"},{"field":"quantity","code":"malformed-field","reason":"must be a number"}]}"#]]
    .assert_eq(&server.post("/rest/execution/order/limit", body));
    let missing = server.post("/rest/execution/order/limit", r#"{"securityId": 1, "side": "BUY", "quantity": 1}"#);
    assert_eq!(code(&missing), "422 missing");
    assert!(server.commands().is_empty());
}

#[test]
fn an_order_is_changed_by_what_the_body_names() {
    let server = TestServer::open(|wanted| match wanted {
        bus::RequestPayload::Query(_) => Ok(Answer::Orders(vec![order("A-1")])),
        _ => Ok(Answer::Order(order("A-1"))),
    });
    let answer = server.post("/rest/execution/modify/order/limit", r#"{"intId": "A-1", "tifDateTime": "2026-11-20"}"#);
    assert_eq!(status(&answer), "HTTP/1.1 200 OK");
    assert!(answer.contains("\ncontent-length: 0\n"), "{answer}");
    let [CommandEnvelope { command: Command::Modify(change), .. }] = &server.commands()[..] else {
        panic!("one change")
    };
    // Friday 17:00 UTC is the close of the exchange that the live order trades on.
    assert_eq!(change.tif.map(|tif| format!("{tif:?}")), Some("Gtd { until: 2026-11-20T17:00:00Z }".into()));
}

#[test]
fn an_order_is_cancelled_by_its_path() {
    let server = accepting("A-1");
    assert_eq!(status(&server.delete("/rest/execution/order/A-1")), "HTTP/1.1 200 OK");
    let cancel = CancelOrder::new("A-1".parse().unwrap());
    assert_eq!(server.commands(), [from_rest(Command::Cancel(cancel))]);
    assert_eq!(code(&server.delete("/rest/execution/order/two%20words")), "404 unknown-order");

    let server = refusing(Refusal::UnknownOrder("A-9".into()));
    assert_eq!(code(&server.delete("/rest/execution/order/A-9")), "404 unknown-order");
}

#[test]
fn an_order_that_nobody_placed_here_is_claimed_for_a_strategy_by_name() {
    let server = accepting("A-1");
    assert_eq!(status(&server.post("/rest/order/A-1/claim", r#"{"strategy": "MOMENTUM"}"#)), "HTTP/1.1 200 OK");
    let claim = ClaimOrder { int_id: "A-1".parse().unwrap(), strategy: StrategyId(2) };
    assert_eq!(server.commands(), [from_rest(Command::Claim(claim))]);
    let refused = [
        (r#"{"strategy": "NOBODY"}"#, "422 unknown-strategy"),
        (r#"{"strategy": 2}"#, "400 malformed-field"),
        (r#"{"strategyName": "MOMENTUM"}"#, "422 unknown-field"),
        ("{}", "422 missing"),
    ];
    for (body, expected) in refused {
        assert_eq!(code(&server.post("/rest/order/A-1/claim", body)), expected, "{body}");
    }
    assert_eq!(code(&server.post("/rest/order/two%20words/claim", r#"{"strategy": "MOMENTUM"}"#)), "404 unknown-order");

    let server = refusing(Refusal::NotExternal("A-1".parse().unwrap()));
    assert_eq!(code(&server.post("/rest/order/A-1/claim", r#"{"strategy": "MOMENTUM"}"#)), "409 not-external");
}

#[test]
fn a_position_is_reduced_or_closed_by_an_order() {
    let server = accepting("A-2");
    for answer in [server.post("/rest/position/reduce/3", "12.5"), server.delete("/rest/position/3")] {
        assert!(answer.contains("\nlocation: /rest/execution/order/A-2\n"), "{answer}");
    }
    let reduce = |quantity| Command::Reduce(ReducePosition { position: PositionId(3), quantity });
    let part = Some(domain::Quantity(Decimal::new(125, 1)));
    assert_eq!(server.commands(), [from_rest(reduce(part)), from_rest(reduce(None))]);
    assert_eq!(code(&server.post("/rest/position/reduce/3", "{}")), "400 malformed-field");

    let closed = refusing(Refusal::PositionClosed(3));
    assert_eq!(code(&closed.delete("/rest/position/3")), "409 position-closed");
    let unknown = refusing(Refusal::UnknownPosition(3));
    assert_eq!(code(&unknown.delete("/rest/position/3")), "404 unknown-position");
}

#[test]
fn the_next_order_id_is_a_json_text() {
    let server = TestServer::open(|_| Ok(Answer::OrderId("ALPHA-18".parse().unwrap())));
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        content-length: 10
        connection: close

        "ALPHA-18""#]]
    .assert_eq(&server.post("/rest/next-order-id", "1"));
    assert_eq!(server.commands(), [from_rest(Command::NextOrderId(AccountId(1)))]);
    assert_eq!(code(&server.post("/rest/next-order-id", "\"ALPHA\"")), "400 malformed-field");
}
