//! Further resources: broker, log, FIX sessions, strategies.

use bus::operations::{BrokerEndpoints, FixSessionCommand, FixSessionStatus, LogLine};
use domain::query::{AdapterStatus, LineStatus, ReconciliationLag};
use domain::report::{LineKind, LineState, OpenFor, SessionState};
use domain::{AdapterName, Answer, Query, Refusal, Timestamp};
use web::WebSettings;

use crate::test_server::{FakeOperations, TestServer, code, order, reference_data, status};

fn run_by(program: FakeOperations) -> TestServer {
    TestServer::with_program(program, |_| Ok(Answer::Done))
}

#[test]
fn broker_urls_have_the_host_name_of_the_request() {
    let broker = BrokerEndpoints { tcp_port: Some(61613), ws_port: Some(61614), public_host: None };
    let server = run_by(FakeOperations { broker, ..FakeOperations::default() });
    let port = server.address.port();
    let ask = |path: &str, host: &str| {
        let request =
            format!("GET /rest/broker/url/{path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
        server.exchange(&request)
    };
    assert!(ask("main", "localhost").contains("\n\"tcp://localhost:61613\"\n"));
    assert!(ask("main", "127.0.0.1").contains("\n\"tcp://127.0.0.1:61613\"\n"));
    assert!(ask("ws", "[::1]").contains("\n\"ws://[::1]:61614\"\n"));
}

#[test]
fn a_public_name_of_the_broker_stands_before_others() {
    let public_host = Some("desk.example".into());
    let broker = BrokerEndpoints { tcp_port: Some(61613), ws_port: Some(61614), public_host };
    let server = run_by(FakeOperations { broker, ..FakeOperations::default() });
    assert!(server.get("/rest/broker/url/main").contains("\n\"tcp://desk.example:61613\"\n"));
    assert!(server.get("/rest/broker/url/ws").contains("\n\"ws://desk.example:61614\"\n"));
}

#[test]
fn a_broker_that_is_not_there_is_told() {
    let server = TestServer::without_engine(WebSettings::default());
    for path in ["/rest/broker/url/main", "/rest/broker/url/ws"] {
        let answer = server.get(path);
        assert_eq!(code(&answer), "503 door-closed");
        assert!(!answer.contains("retry-after"), "waiting would not open it: {answer}");
    }
}

fn line(second: i64, level: &'static str, message: &str) -> LogLine {
    let at = Timestamp::from_millis(1_794_839_400_000).unwrap().plus_seconds(second);
    let error = (level == "ERROR").then(|| "no space left".into());
    LogLine { at, level, logger: "storage".into(), message: message.into(), error }
}

#[test]
fn the_log_tells_its_newest_lines() {
    let log = vec![line(0, "INFO", "one"), line(1, "ERROR", "two"), line(2, "WARN", "three"), line(3, "INFO", "four")];
    let server = run_by(FakeOperations { log, ..FakeOperations::default() });
    let messages = |query: &str| -> Vec<String> {
        let answer = server.get(&format!("/rest/log{query}"));
        let found = answer.split("\"message\":\"").skip(1);
        found.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    assert_eq!(messages(""), ["one", "two", "three", "four"]);
    assert_eq!(messages("?limit=2"), ["three", "four"]);
    assert_eq!(messages("?level=WARN"), ["two", "three"]);
    assert_eq!(messages("?after=1&limit=1"), ["two"]);
    assert!(server.get("/rest/log?after=1&limit=2").contains("\nrialto-after: 3\n"), "three goes on after it");
    assert!(server.get("/rest/log?after=4").contains("\nrialto-after: 4\n"), "nothing is new");
    let two = r#"{"dateTime":1794839401000,"level":"ERROR","logger":"storage","message":"two","exceptionClass":null,"exceptionMessage":"no space left"}"#;
    assert!(server.get("/rest/log?level=ERROR").contains(two));
    for (query, expected) in [("?level=LOUD", "400 malformed-parameter"), ("?limit=5000", "400 malformed-parameter")] {
        assert_eq!(code(&server.get(&format!("/rest/log{query}"))), expected);
    }
}

#[test]
fn without_a_fix_gateway_there_are_no_sessions() {
    let server = TestServer::without_engine(WebSettings::default());
    assert!(server.get("/rest/fix/sessions").contains("\n[]\n"));
    for act in ["logout", "reset"] {
        let answer = server.call("POST", &format!("/rest/fix/sessions/CLIENT/{act}"), "", "");
        assert_eq!(code(&answer), "404 unknown-session", "{act}");
    }
    assert_eq!(code(&server.post("/rest/fix/sessions/CLIENT/numbers", r#"{"nextIn": 1}"#)), "404 unknown-session");
}

#[test]
fn a_session_file_with_an_error_is_refused_with_its_line() {
    let server = run_by(FakeOperations::default());
    let answer = server.post("/rest/fix/reload", "");
    assert_eq!(code(&answer), "422 bad-session-file");
    assert!(answer.contains("sessions.cfg line 1: there is no [SESSION]"), "{answer}");
}

fn fix_session() -> FixSessionStatus {
    FixSessionStatus {
        id: "CLIENT".into(),
        sender_comp_id: "RIALTO".into(),
        target_comp_id: "CLIENT".into(),
        state: SessionState::LoggedOn,
        peer: Some([127, 0, 0, 1].into()),
        next_in: 18,
        next_out: 23,
        last_received: Some(Timestamp(1_000_000)),
        last_sent: None,
        next_reset: None,
        disconnect_reason: None,
    }
}

#[test]
fn a_fix_session_is_seen_and_steered() {
    let fix = vec![fix_session()];
    let server = run_by(FakeOperations { fix, ..FakeOperations::default() });
    let shown = concat!(
        r#"[{"id":"CLIENT","senderCompId":"RIALTO","targetCompId":"CLIENT","state":"LOGGED_ON","peer":"127.0.0.1","#,
        r#""nextIn":18,"nextOut":23,"lastReceived":1,"lastSent":null,"nextReset":null,"reason":null}]"#
    );
    assert!(server.get("/rest/fix/sessions").contains(shown));
    let act = |act: &str, body: &str| server.post(&format!("/rest/fix/sessions/CLIENT/{act}"), body);
    for (name, body) in [("logout", ""), ("reset", ""), ("numbers", r#"{"nextOut": 40}"#)] {
        assert_eq!(status(&act(name, body)), "HTTP/1.1 200 OK", "{name}");
    }
    assert_eq!(code(&act("numbers", "{}")), "422 missing");
    assert_eq!(code(&act("numbers", r#"{"nextIn": 0}"#)), "400 malformed-field");
    let changes = r#"{"added":["DESK"],"changed":[],"removed":[],"unchanged":["CLIENT"],"warnings":[]}"#;
    assert!(server.post("/rest/fix/reload", "").contains(changes));
    let told = server.users.audit();
    assert!(told.contains("[POST /rest/fix/reload] done: /rest/fix/reload, added DESK, 1 unchanged"), "{told}");
    let numbers = "[POST /rest/fix/sessions/{id}/numbers] done: /rest/fix/sessions/CLIENT/numbers, nextIn 18 to 18, nextOut 23 to 23";
    assert!(told.contains(numbers), "the program of this story sets nothing: {told}");
    let number = FixSessionCommand::SetSeqNums { next_in: None, next_out: Some(40) };
    let expected =
        [FixSessionCommand::Logout, FixSessionCommand::ResetSeqNums, number].map(|act| ("CLIENT".to_owned(), act));
    assert_eq!(*server.program.fix_acts.lock().unwrap(), expected);
}

#[test]
fn a_strategy_without_code_cannot_be_started() {
    let server = TestServer::without_engine(WebSettings::default());
    for act in ["start", "stop"] {
        let known = server.call("POST", &format!("/rest/strategy/MOMENTUM/{act}"), "", "");
        assert_eq!(code(&known), "409 not-runnable");
        assert!(known.contains("no code of strategy MOMENTUM runs in this server"), "{known}");
        let unknown = server.call("POST", &format!("/rest/strategy/NOBODY/{act}"), "", "");
        assert_eq!(code(&unknown), "404 unknown-strategy");
    }
}

#[test]
fn every_path_answers_options_with_its_methods() {
    let server = TestServer::without_engine(WebSettings::default());
    for row in web::endpoints::ENDPOINTS {
        let path = row.path.replace("{id}", "1").replace("{intId}", "A-1").replace("{name}", "ALPHA");
        let answer = server.call("OPTIONS", &path, "", "");
        assert_eq!(status(&answer), "HTTP/1.1 204 No Content", "{path}");
        let allowed = answer.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap();
        assert!(allowed.split(',').any(|method| method == row.method), "{path}: {allowed}");
    }
}

#[test]
fn every_path_answers_head_as_get_without_a_body() {
    let server = TestServer::open(|_| Err(Refusal::AmountTooLarge));
    for row in web::endpoints::ENDPOINTS.iter().filter(|row| row.method == "GET") {
        let path = row.path.replace("{id}", "1").replace("{intId}", "A-1").replace("{name}", "ALPHA");
        let (get, head) = (server.get(&path), server.call("HEAD", &path, "", ""));
        assert_eq!(status(&head), status(&get), "{path}");
        assert!(head.ends_with("\n\n"), "{path}: {head}");
    }
}

fn busy_engine(wanted: &bus::RequestPayload) -> crate::test_server::Outcome {
    let bus::RequestPayload::Query(query) = wanted else { return Err(Refusal::AmountTooLarge) };
    Ok(match **query {
        Query::OpenOrders(_) => Answer::Orders(vec![order("A-1"), order("A-2")]),
        Query::Adapters => Answer::Adapters(vec![AdapterStatus {
            adapter: AdapterName::new("SIMULATED", None),
            session: SessionState::LoggedOn,
            simulated: true,
            exchanges: vec![domain::ExchangeId(1)],
            order_properties: vec![domain::OrderProperty::PostOnly],
            replace: domain::report::ReplaceKind::InPlace,
            cancel: domain::report::CancelKind::WhileOpen,
            open_for: OpenFor::Reduce,
            lines: vec![LineStatus {
                state: LineState { line: LineKind::Private, up: false, reason: Some("no pong".into()) },
                since: Timestamp::from_millis(1_000),
                last_heard: Timestamp::from_millis(500),
            }],
        }]),
        Query::ReconciliationLags => Answer::ReconciliationLags(vec![ReconciliationLag {
            adapter: AdapterName::new("SIMULATED", None),
            scope: "fills",
            seconds: 61,
        }]),
        _ => Answer::TradingStates(vec![]),
    })
}

#[test]
fn adapters_are_listed_with_what_their_venues_offer() {
    let server = TestServer::open(busy_engine);
    let answer = server.get("/rest/adapter");
    let expected = r#"[{"name":"SIMULATED","adapterType":"SIMULATED","sessionQualifier":null,"state":"LOGGED_ON","simulated":true,"orders":"SIMULATED","proof":"OWN_VENUE","exchangeIds":[1],"orderProperties":["postOnly","reduceOnly"],"replace":"IN_PLACE","cancel":"WHILE_OPEN","openFor":"REDUCE","lines":[{"line":"PRIVATE","up":false,"since":1000,"lastHeard":500,"reason":"no pong"}]}]"#;
    assert!(answer.contains(&format!("\n{expected}\n")), "{answer}");
    assert!(answer.contains("\nrialto-sequence: 4711\n"), "{answer}");
}

#[test]
fn metrics_are_served_in_prometheus_format() {
    let server =
        TestServer::with_program(FakeOperations { fix: vec![fix_session()], ..FakeOperations::default() }, busy_engine);
    server.get("/rest/account/ALPHA");
    server.get("/rest/account/NOBODY");
    server.call("POST", "/rest/position/reset-positions", "", "");
    server.get("/nowhere");
    let answer = server.get("/metrics");
    assert!(
        answer.contains("\ncontent-type: application/openmetrics-text; version=1.0.0; charset=utf-8\n"),
        "{answer}"
    );
    let expected = [
        "# TYPE rialto_story gauge",
        r#"rialto_http_requests_total{method="GET",endpoint="/rest/account/{name}",status="200"} 1"#,
        r#"rialto_http_requests_total{method="GET",endpoint="/rest/account/{name}",status="404"} 1"#,
        r#"rialto_http_requests_total{method="",endpoint="none",status="404"} 1"#,
        r#"rialto_http_request_seconds_count{method="GET",endpoint="/rest/account/{name}"} 2"#,
        r#"rialto_http_problems_total{code="unknown-account"} 1"#,
        r#"rialto_http_problems_total{code="amount-too-large"} 1"#,
        r#"rialto_open_orders{status="OPEN",door="REST"} 2"#,
        "rialto_orders_in_doubt 0",
        r#"rialto_adapter_state{adapter="SIMULATED"} 2"#,
        r#"rialto_adapter_line_up{adapter="SIMULATED",line="PRIVATE"} 0"#,
        r#"rialto_adapter_line_last_heard_seconds{adapter="SIMULATED",line="PRIVATE"} 0"#,
        r#"rialto_reconcile_lag_seconds{adapter="SIMULATED",scope="fills"} 61"#,
        r#"rialto_trading_state{scope="PLATFORM"} 0"#,
        r#"rialto_auth_failures_total{code="wrong-credentials"} 0"#,
        r#"rialto_fix_session_state{session="CLIENT"} 1"#,
        r#"rialto_fix_next_in{session="CLIENT"} 18"#,
        r#"rialto_fix_next_out{session="CLIENT"} 23"#,
    ];
    for line in expected {
        assert!(answer.lines().any(|told| told == line), "{line} is not in {answer}");
    }
    assert!(answer.ends_with("# EOF\n"));
}

#[test]
fn an_engine_that_is_gone_takes_only_its_own_numbers_with_it() {
    let server =
        TestServer::open_with(WebSettings::default(), FakeOperations::default(), reference_data(), |lanes, _| {
            drop(lanes);
        });
    let answer = server.get("/metrics");
    assert!(answer.starts_with("HTTP/1.1 200 OK\n") && answer.ends_with("# EOF\n"), "{answer}");
    assert!(!answer.contains("rialto_open_orders"));
}
