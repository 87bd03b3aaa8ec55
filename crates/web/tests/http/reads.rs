//! Read-only endpoints.

use domain::command::{StrategyFailure, StrategyFailureKind, StrategyPhase};
use domain::query::Filter;
use domain::{AccountId, Answer, Query, Refusal, SecurityId, StrategyId};
use expect_test::expect;
use web::WebSettings;

use crate::test_server::{FakeOperations, TestServer, code, order, reference_data, status};

#[test]
fn the_account_list_is_chunked_json_that_every_origin_may_read() {
    let server = TestServer::without_engine(WebSettings::default());
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        vary: Accept
        vary: Accept-Encoding
        etag: W/"c91cbab3f26a5aac645b7489551b5dcb"
        access-control-allow-origin: *
        access-control-expose-headers: Location, Rialto-After, Rialto-Journal, Rialto-Sequence, X-Request-Id
        x-content-type-options: nosniff
        cache-control: private, no-cache
        x-request-id: story
        connection: close
        transfer-encoding: chunked

        CD
        [{"id":1,"name":"ALPHA","active":true,"adapterType":"SIMULATED","broker":"SIMULATED","sessionQualifier":null,"extAccount":null,"extAccountGroup":null,"extAllocationProfile":null,"extClearingAccount":null}]
        0

    "#]]
    .assert_eq(&server.get("/rest/account"));
}

#[test]
fn what_is_known_is_shown_and_what_is_not_is_404() {
    let server = TestServer::without_engine(WebSettings::default());
    for path in ["/rest/account/ALPHA", "/rest/security", "/rest/security/1", "/rest/security-family", "/rest/exchange"]
    {
        assert_eq!(status(&server.get(path)), "HTTP/1.1 200 OK", "{path}");
    }
    let cases = [
        ("/rest/account/NOBODY", "404 unknown-account"),
        ("/rest/security/99", "404 unknown-security"),
        ("/rest/security-family/99", "404 unknown-security-family"),
        ("/rest/security/abc", "400 malformed-path"),
        ("/rest/security/-1", "400 malformed-path"),
        ("/rest/security/9007199254740992", "400 malformed-path"),
        ("/rest/account/%FF", "400 malformed-path"),
        ("/rest/nothing", "404 no-such-path"),
        ("/", "404 no-such-path"),
    ];
    for (path, expected) in cases {
        assert_eq!(code(&server.get(path)), expected, "{path}");
    }
}

#[test]
fn a_problem_has_the_form_of_rfc_9457() {
    let server = TestServer::without_engine(WebSettings::default());
    expect![[r#"
        HTTP/1.1 404 Not Found
        content-type: application/problem+json
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        content-length: 142
        connection: close

        {"type":"urn:rialto:problem:unknown-account","title":"Not Found","status":404,"detail":"account NO ONE is not known","code":"unknown-account"}"#]]
    .assert_eq(&server.get("/rest/account/NO%20ONE"));
}

#[test]
fn live_state_says_up_to_which_sequence_it_is_true() {
    let server = TestServer::open(|_| Ok(Answer::Orders(vec![order("A-1")])));
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        vary: Accept
        vary: Accept-Encoding
        rialto-sequence: 4711
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        connection: close
        transfer-encoding: chunked

        19E
        [{"objectType":"LimitOrder","id":7,"intId":"A-1","extId":null,"clOrdId":null,"dateTime":1794839400000,"side":"BUY","quantity":100,"tif":"DAY","tifDateTime":null,"exchangeOrder":false,"exchangeId":1,"securityId":1,"accountId":1,"strategyId":1,"status":"OPEN","filledQuantity":0,"remainingQuantity":100,"avgPrice":null,"reason":null,"inDoubt":false,"reference":null,"source":"REST","submittedBy":null,"limit":272.4}]
        0

    "#]]
    .assert_eq(&server.get("/rest/execution/order"));
}

#[test]
fn a_list_is_narrowed_by_name_or_by_id() {
    let server = TestServer::open(|_| Ok(Answer::Orders(vec![])));
    server.get("/rest/execution/order?strategy=MOMENTUM&account=1&security=AAPL");
    server.get("/rest/execution/order?security=2");
    let (strategy, account, security) = (Some(StrategyId(2)), Some(AccountId(1)), Some(SecurityId(1)));
    let expected = [
        Query::OpenOrders(Filter { strategy, account, security }),
        Query::OpenOrders(Filter { security: Some(SecurityId(2)), ..Filter::default() }),
    ];
    assert_eq!(server.queries(), expected);
}

#[test]
fn a_parameter_that_cannot_be_followed_is_told() {
    let server = TestServer::open(|_| Ok(Answer::Orders(vec![])));
    let cases = [
        ("/rest/execution/order?color=red", "400 unknown-parameter"),
        ("/rest/account?strategy=MOMENTUM", "400 unknown-parameter"),
        ("/health/live?x=1", "400 unknown-parameter"),
        ("/rest/execution/order?security=1&security=2", "400 malformed-parameter"),
        ("/rest/execution/order?security=TWIN", "400 ambiguous-parameter"),
        ("/rest/execution/order?security=NONE", "404 unknown-security"),
        ("/rest/execution/order?strategy=99", "404 unknown-strategy"),
        ("/rest/execution/order?account=", "404 unknown-account"),
    ];
    for (path, expected) in cases {
        assert_eq!(code(&server.get(path)), expected, "{path}");
    }
    assert!(server.queries().is_empty(), "nobody asked the engine");
}

#[test]
fn an_order_is_found_by_its_id_or_not_at_all() {
    let server = TestServer::open(|wanted| match wanted {
        bus::RequestPayload::Query(query) if **query == Query::Order("A/1".into()) => {
            Ok(Answer::Orders(vec![order("A/1")]))
        }
        bus::RequestPayload::Query(query) if **query == Query::Order("gone".into()) => Ok(Answer::Orders(vec![])),
        _ => Err(Refusal::UnknownOrder("other".into())),
    });
    assert_eq!(status(&server.get("/rest/execution/order/A%2F1")), "HTTP/1.1 200 OK");
    assert_eq!(code(&server.get("/rest/execution/order/gone")), "404 unknown-order");
    assert_eq!(code(&server.get("/rest/execution/order/other")), "404 unknown-order");
}

#[test]
fn a_strategy_shows_the_phase_it_is_in_and_why_it_was_stopped() {
    let server = TestServer::open(|_| Ok(Answer::Phases(vec![(StrategyId(2), StrategyPhase::Run, None)])));
    let answer = server.get("/rest/strategy");
    let body = r#"[{"id":1,"name":"SERVER","autoActivate":false,"phase":null,"lastError":null},{"id":2,"name":"MOMENTUM","autoActivate":false,"phase":"RUN","lastError":null}]"#;
    assert!(answer.contains(body), "{answer}");
    let stopped = StrategyFailure { kind: StrategyFailureKind::Hung, text: "hangs".into() };
    let server = TestServer::open(move |_| {
        Ok(Answer::Phases(vec![(StrategyId(2), StrategyPhase::Exit, Some(stopped.clone()))]))
    });
    let answer = server.get("/rest/strategy");
    assert!(
        answer.contains(r#""name":"MOMENTUM","autoActivate":false,"phase":"EXIT","lastError":"hangs"}"#),
        "{answer}"
    );
}

#[test]
fn every_live_list_asks_the_engine() {
    let server = TestServer::open(|wanted| match wanted {
        bus::RequestPayload::Query(query) => Ok(match **query {
            Query::Positions(_) => Answer::Positions(vec![]),
            Query::Balances(_) => Answer::Balances(vec![]),
            Query::PortfolioValue(_) => Answer::PortfolioValues(vec![]),
            Query::TradingStates => Answer::TradingStates(vec![]),
            _ => Answer::Limits(vec![]),
        }),
        _ => Ok(Answer::Done),
    });
    let paths =
        ["/rest/position", "/rest/portfolio/balance", "/rest/portfolio/value", "/rest/risk/state", "/rest/risk/limit"];
    for path in paths {
        let answer = server.get(path);
        assert!(answer.contains("rialto-sequence: 4711") && answer.ends_with("2\n[]\n0\n\n"), "{path}: {answer}");
    }
}

#[test]
fn a_long_list_comes_in_pieces_and_whole() {
    let mut reference = reference_data();
    reference.securities = (1..=2_000).map(|id| (SecurityId(id), samples::stock(id, "MANY").into())).collect();
    let server = TestServer::open_with(WebSettings::default(), FakeOperations::default(), reference, |_, _| {});
    let answer = server.get("/rest/security");
    assert_eq!(answer.matches("\"symbol\":\"MANY\"").count(), 2_000);
    assert!(answer.ends_with("]\n0\n\n"), "the list is closed");
}

#[test]
fn head_is_get_without_the_body_and_options_lists_the_methods() {
    let server = TestServer::without_engine(WebSettings::default());
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        vary: Accept
        vary: Accept-Encoding
        etag: W/"36b7d4a79db0d047766a661217e2f9bc"
        x-content-type-options: nosniff
        cache-control: private, no-cache
        x-request-id: story
        connection: close

    "#]]
    .assert_eq(&server.call("HEAD", "/rest/exchange", "", ""));
    expect![[r#"
        HTTP/1.1 204 No Content
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        allow: GET,HEAD,DELETE
        connection: close

    "#]]
    .assert_eq(&server.call("OPTIONS", "/rest/execution/order/A-1", "", ""));
}

#[test]
fn an_allowed_origin_gets_its_preflight() {
    let friend = "https://friend.example";
    let settings = WebSettings { allowed_origins: vec![friend.into()], ..WebSettings::default() };
    let server = TestServer::without_engine(settings);
    let headers = format!("Origin: {friend}\r\nAccess-Control-Request-Method: POST\r\n");
    expect![[r#"
        HTTP/1.1 204 No Content
        vary: Origin
        access-control-allow-origin: https://friend.example
        access-control-expose-headers: Location, Rialto-After, Rialto-Journal, Rialto-Sequence, X-Request-Id
        access-control-allow-methods: POST
        access-control-allow-headers: Authorization, Content-Type, Rialto-Source, X-Request-Id
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        allow: POST
        connection: close

    "#]]
    .assert_eq(&server.call("OPTIONS", "/rest/execution/order/limit", &headers, ""));
    let stranger = server.call("OPTIONS", "/rest/execution/order/limit", "Origin: https://evil.example\r\n", "");
    assert!(!stranger.contains("access-control"), "{stranger}");
}

#[test]
fn health_tells_every_check() {
    let server = TestServer::without_engine(WebSettings::default());
    assert!(server.get("/health/live").contains(r#"{"status":"UP","checks":[]}"#));
    let ready = server.get("/health/ready");
    let checks = r#"{"status":"UP","checks":[{"name":"journal","ok":true,"detail":"durable"},{"name":"adapters","ok":true,"detail":"all are LOGGED_ON"}]}"#;
    assert!(ready.starts_with("HTTP/1.1 200 OK") && ready.contains(checks), "{ready}");

    let program = FakeOperations { adapter_is_down: true, ..FakeOperations::default() };
    let server = TestServer::open_with(WebSettings::default(), program, reference_data(), |_, _| {});
    let ready = server.get("/health/ready");
    let down = r#"{"name":"adapters","ok":false,"detail":"SIMULATED is DISCONNECTED"}"#;
    assert!(ready.starts_with("HTTP/1.1 503 ") && ready.contains(down), "{ready}");
}
