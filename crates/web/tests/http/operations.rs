//! Risk gate and operator commands.

use domain::query::PreTradeCheck;
use domain::risk::{RiskLimitName, RiskLimitsChange};
use domain::{
    AccountId, Amount, Answer, Command, CommandEnvelope, Query, Refusal, RiskLimits, RiskScope, SecurityId,
    TradingState,
};
use expect_test::expect;
use web::WebSettings;

use crate::test_server::{TestServer, code, status};

#[test]
fn a_dry_run_tells_the_verdict() {
    let verdict = PreTradeCheck {
        refusal: Some(Refusal::NotTradeable(SecurityId(1))),
        notional: Some(Amount::from(27_240)),
        fee: Some(Amount::from(1)),
    };
    let server = TestServer::open(move |_| Ok(Answer::PreTradeCheck(verdict.clone())));
    let order = r#"{"objectType": "MarketOrder", "securityId": 1, "side": "BUY", "quantity": 100}"#;
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        rialto-sequence: 4711
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        content-length: 126
        connection: close

        {"accepted":false,"code":"not-tradeable","field":"securityId","reason":"security 1 cannot be traded","notional":27240,"fee":1}"#]]
    .assert_eq(&server.post("/rest/risk/check", order));
    assert!(matches!(server.queries()[..], [Query::CheckOrder(..)]));
    assert_eq!(code(&server.post("/rest/risk/check", r#"{"securityId": 1}"#)), "422 missing");
}

#[test]
fn a_change_is_tried_like_the_change_itself() {
    let server =
        TestServer::open(|_| Ok(Answer::PreTradeCheck(PreTradeCheck { refusal: None, notional: None, fee: None })));
    let change = r#"{"objectType": "LimitOrder", "intId": "my-first", "quantity": 20, "limit": 251}"#;
    let said = server.post("/rest/risk/check/modify", change);
    assert!(said.ends_with(r#"{"accepted":true,"code":null,"field":null,"reason":null,"notional":null,"fee":null}"#));
    let [Query::CheckModify(tried, _)] = &server.queries()[..] else { panic!("one question is asked") };
    server.post("/rest/execution/modify/order/limit", change);
    let [CommandEnvelope { command: Command::Modify(sent), .. }] = &server.commands()[..] else {
        panic!("one change is sent")
    };
    assert_eq!(tried, sent);
    let refused = [
        (r#"{"intId": "my-first"}"#, "422 missing"),
        (r#"{"objectType": "LimitOrder", "limit": 251}"#, "422 missing"),
        (r#"{"objectType": "StopOrder", "intId": "my-first", "limit": 251}"#, "422 not-needed"),
        (r#"{"objectType": "LimitOrder", "intId": 7}"#, "400 malformed-field"),
    ];
    for (body, problem) in refused {
        assert_eq!(code(&server.post("/rest/risk/check/modify", body)), problem, "{body}");
    }
}

#[test]
fn trading_is_halted_by_state_or_by_the_kill_switch() {
    let server = TestServer::open(|wanted| match wanted {
        bus::RequestPayload::Command(envelope) if matches!(envelope.command, Command::Kill { .. }) => {
            Ok(Answer::Killed { cancels: 3 })
        }
        _ => Ok(Answer::Done),
    });
    let halt = server.put("/rest/risk/state", r#"{"scope": "ACCOUNT-1", "state": "HALTED", "reason": "lunch"}"#);
    assert_eq!(status(&halt), "HTTP/1.1 200 OK");
    let killed = server.post("/rest/risk/kill", r#"{"scope": "PLATFORM"}"#);
    assert!(killed.ends_with(r#"{"scope":"PLATFORM","cancels":3}"#), "{killed}");
    let commands: Vec<_> = server.commands().into_iter().map(|envelope| envelope.command).collect();
    let (scope, state, reason) = (RiskScope::Account(AccountId(1)), TradingState::Halted, Some("lunch".into()));
    let expected =
        [Command::SetTradingState { scope, state, reason }, Command::Kill { scope: RiskScope::Platform, reason: None }];
    assert_eq!(commands, expected);
}

#[test]
fn an_unknown_scope_cannot_be_halted() {
    let server = TestServer::open(|_| Ok(Answer::Done));
    for (scope, expected) in [
        ("ACCOUNT-9", "422 unknown-account"),
        ("STRATEGY-9", "422 unknown-strategy"),
        ("SECURITY-9", "422 unknown-security"),
    ] {
        let answers = [
            server.put("/rest/risk/state", &format!(r#"{{"scope": "{scope}", "state": "HALTED"}}"#)),
            server.put("/rest/risk/limit", &format!(r#"{{"scope": "{scope}", "maxOpenOrders": 5}}"#)),
            server.post("/rest/risk/kill", &format!(r#"{{"scope": "{scope}"}}"#)),
        ];
        assert_eq!(answers.map(|answer| code(&answer)), [expected; 3], "{scope}");
    }
    assert_eq!(server.commands(), []);
}

#[test]
fn named_limits_are_changed() {
    let server = TestServer::open(|_| Ok(Answer::Done));
    let set = server.put("/rest/risk/limit", r#"{"scope": "PLATFORM", "maxOpenOrders": 50}"#);
    assert_eq!(status(&set), "HTTP/1.1 200 OK");
    let limits = RiskLimits { max_open_orders: Some(50), ..RiskLimits::default() };
    let change = RiskLimitsChange { limits, named: vec![RiskLimitName::MaxOpenOrders] };
    assert_eq!(server.commands()[0].command, Command::ChangeLimits { scope: RiskScope::Platform, change });
    let negative = server.put("/rest/risk/limit", r#"{"scope": "PLATFORM", "maxOpenOrders": -1}"#);
    assert_eq!(code(&negative), "422 too-small");
    assert_eq!(server.commands(), []);
}

#[test]
fn a_misspelt_key_stops_everything_but_the_platform() {
    let server = TestServer::open(|_| Ok(Answer::Done));
    let refused = [
        ("POST", "/rest/risk/kill", r#"{"scop": "ACCOUNT-1"}"#),
        ("PUT", "/rest/risk/state", r#"{"scope": "ACCOUNT-1", "state": "HALTED", "resaon": "lunch"}"#),
        ("PUT", "/rest/risk/limit", r#"{"scope": "PLATFORM", "maxOrderQuanity": 10}"#),
        ("POST", "/rest/user", r#"{"name": "anna", "password": "correct horse", "role": "ADMIN", "rolle": "VIEWER"}"#),
        ("POST", "/rest/token", r#"{"name": "robot", "role": "VIEWER", "day": 5}"#),
        ("POST", "/rest/login", r#"{"user": "anna", "password": "correct horse", "remember": true}"#),
        ("POST", "/rest/reference/import", r#"{"path": "/srv", "dryRun": true}"#),
        ("POST", "/rest/fix/sessions/CLIENT/numbers", r#"{"nextIn": 1, "nextout": 5}"#),
        ("POST", "/rest/fix/sessions/CLIENT/reset", r#"{"nextIn": 1}"#),
        ("POST", "/rest/fix/sessions/CLIENT/logout", r#"{"reason": "lunch"}"#),
        ("POST", "/rest/strategy/MOMENTUM/start", r#"{"fast": 5}"#),
        ("POST", "/rest/strategy/MOMENTUM/stop", r#"{"cancel": true}"#),
    ];
    for (method, path, body) in refused {
        let answer = server.call(method, path, "Content-Type: application/json\r\n", body);
        assert_eq!(code(&answer), "422 unknown-field", "{path}: {answer}");
    }
    assert_eq!(server.commands(), []);
    let misspelt = server.post("/rest/risk/kill", r#"{"scop": "ACCOUNT-1"}"#);
    let body = misspelt.split("\n\n").nth(1).unwrap();
    expect![[r#"{"type":"urn:rialto:problem:unknown-field","title":"Unprocessable Entity","status":422,"detail":"scop is not known here; did you mean 'scope'?; scope is needed","code":"unknown-field","errors":[{"field":"scop","code":"unknown-field","reason":"is not known here; did you mean 'scope'?"},{"field":"scope","code":"missing","reason":"is needed"}]}"#]]
    .assert_eq(body);
}

#[test]
fn orders_and_their_dry_run_may_have_further_keys() {
    let server =
        TestServer::open(|_| Ok(Answer::PreTradeCheck(PreTradeCheck { refusal: None, notional: None, fee: None })));
    let order = r#"{"objectType": "MarketOrder", "securityId": 1, "side": "BUY", "quantity": 100, "colour": "red"}"#;
    assert_eq!(status(&server.post("/rest/risk/check", order)), "HTTP/1.1 200 OK");
    let wish = r#"{"strategyName": "SERVER", "securityId": 1, "colour": "red"}"#;
    assert_eq!(code(&server.put("/rest/subscription/marketdata/subscribe", wish)), "200 -");
}

#[test]
fn the_parameters_are_a_map_of_texts() {
    let answer = TestServer::without_engine(WebSettings::default()).get("/rest/config-params");
    assert!(answer.contains(r#"{"auth.secret":"***","http.port":"0"}"#), "{answer}");
}

#[test]
fn the_server_can_be_asked_to_stop() {
    let server = TestServer::without_engine(WebSettings::default());
    let answer = server.call("POST", "/rest/runtime/exit-vm", "", "");
    assert!(answer.starts_with("HTTP/1.1 200 OK\n") && answer.contains("\ncontent-length: 0\n"), "{answer}");
    assert!(*server.program.stopped.lock().unwrap());
    assert_eq!(code(&server.get("/rest/runtime/exit-vm")), "405 method-not-allowed");
}
