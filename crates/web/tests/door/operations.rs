//! What the risk gate and the operator can do.

use domain::query::Verdict;
use domain::{AccountId, Amount, Answer, Command, Envelope, Limits, Query, Refusal, Scope, SecurityId, TradingState};
use expect_test::expect;
use web::Settings;

use crate::desk::{Desk, code, status};

#[test]
fn a_dry_run_tells_the_verdict() {
    let verdict = Verdict {
        refusal: Some(Refusal::NotTradeable(SecurityId(1))),
        notional: Some(Amount::from(27_240)),
        fee: Some(Amount::from(1)),
    };
    let desk = Desk::open(move |_| Ok(Answer::Verdict(verdict.clone())));
    let order = r#"{"objectType": "MarketOrder", "securityId": 1, "side": "BUY", "quantity": 100}"#;
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        rialto-sequence: 4711
        x-request-id: story
        content-length: 126
        connection: close

        {"accepted":false,"code":"not-tradeable","field":"securityId","reason":"security 1 cannot be traded","notional":27240,"fee":1}"#]]
    .assert_eq(&desk.post("/rest/risk/check", order));
    assert!(matches!(desk.queries()[..], [Query::Check(..)]));
    assert_eq!(code(&desk.post("/rest/risk/check", r#"{"securityId": 1}"#)), "422 missing");
}

#[test]
fn a_change_is_tried_like_the_change_itself() {
    let desk = Desk::open(|_| Ok(Answer::Verdict(Verdict { refusal: None, notional: None, fee: None })));
    let change = r#"{"objectType": "LimitOrder", "intId": "my-first", "quantity": 20, "limit": 251}"#;
    let said = desk.post("/rest/risk/check/modify", change);
    assert!(said.ends_with(r#"{"accepted":true,"code":null,"field":null,"reason":null,"notional":null,"fee":null}"#));
    let [Query::CheckModify(tried, _)] = &desk.queries()[..] else { panic!("one question is asked") };
    desk.post("/rest/execution/modify/order/limit", change);
    let [Envelope { command: Command::Modify(sent), .. }] = &desk.commands()[..] else { panic!("one change is sent") };
    assert_eq!(tried, sent);
    let refused = [
        (r#"{"intId": "my-first"}"#, "422 missing"),
        (r#"{"objectType": "LimitOrder", "limit": 251}"#, "422 missing"),
        (r#"{"objectType": "StopOrder", "intId": "my-first", "limit": 251}"#, "422 not-needed"),
        (r#"{"objectType": "LimitOrder", "intId": 7}"#, "400 malformed-field"),
    ];
    for (body, problem) in refused {
        assert_eq!(code(&desk.post("/rest/risk/check/modify", body)), problem, "{body}");
    }
}

#[test]
fn trading_is_halted_by_state_or_by_the_kill_switch() {
    let desk = Desk::open(|wanted| match wanted {
        bus::Wanted::Command(envelope) if matches!(envelope.command, Command::Kill { .. }) => {
            Ok(Answer::Killed { cancels: 3 })
        }
        _ => Ok(Answer::Done),
    });
    let halt = desk.put("/rest/risk/state", r#"{"scope": "ACCOUNT-1", "state": "HALTED", "reason": "lunch"}"#);
    assert_eq!(status(&halt), "HTTP/1.1 200 OK");
    let killed = desk.call("POST", "/rest/risk/kill", "", "");
    assert!(killed.ends_with(r#"{"scope":"PLATFORM","cancels":3}"#), "{killed}");
    let commands: Vec<_> = desk.commands().into_iter().map(|envelope| envelope.command).collect();
    let (scope, state, reason) = (Scope::Account(AccountId(1)), TradingState::Halted, Some("lunch".into()));
    let expected =
        [Command::SetTradingState { scope, state, reason }, Command::Kill { scope: Scope::Platform, reason: None }];
    assert_eq!(commands, expected);
}

#[test]
fn who_halts_what_is_not_there_is_told() {
    let desk = Desk::open(|_| Ok(Answer::Done));
    for (scope, expected) in [
        ("ACCOUNT-9", "422 unknown-account"),
        ("STRATEGY-9", "422 unknown-strategy"),
        ("SECURITY-9", "422 unknown-security"),
    ] {
        let body = format!(r#"{{"scope": "{scope}", "state": "HALTED"}}"#);
        let answers = [
            desk.put("/rest/risk/state", &body),
            desk.put("/rest/risk/limit", &body),
            desk.post("/rest/risk/kill", &body),
        ];
        assert_eq!(answers.map(|answer| code(&answer)), [expected; 3], "{scope}");
    }
    assert_eq!(desk.commands(), []);
}

#[test]
fn limits_are_set_whole() {
    let desk = Desk::open(|_| Ok(Answer::Done));
    let set = desk.put("/rest/risk/limit", r#"{"scope": "PLATFORM", "maxOpenOrders": 50}"#);
    assert_eq!(status(&set), "HTTP/1.1 200 OK");
    let limits = Limits { max_open_orders: Some(50), ..Limits::default() };
    assert_eq!(desk.commands()[0].command, Command::SetLimits { scope: Scope::Platform, limits });
    assert_eq!(code(&desk.put("/rest/risk/limit", r#"{"maxOpenOrders": -1}"#)), "400 malformed-field");
}

#[test]
fn the_parameters_are_a_map_of_texts() {
    let answer = Desk::quiet(Settings::default()).get("/rest/config-params");
    assert!(answer.contains(r#"{"auth.secret":"***","http.port":"0"}"#), "{answer}");
}

#[test]
fn the_server_can_be_asked_to_stop() {
    let desk = Desk::quiet(Settings::default());
    let answer = desk.call("POST", "/rest/runtime/exit-vm", "", "");
    assert!(answer.starts_with("HTTP/1.1 200 OK\n") && answer.contains("\ncontent-length: 0\n"), "{answer}");
    assert!(*desk.program.stopped.lock().unwrap());
    assert_eq!(code(&desk.get("/rest/runtime/exit-vm")), "405 method-not-allowed");
}
