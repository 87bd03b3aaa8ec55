//! Authorization: every row of the endpoint table for every role, through real sockets.

use access::UserRole;
use domain::{Answer, Command, PositionId, Query, StrategyId};
use expect_test::{expect, expect_file};
use web::WebSettings;
use web::endpoints::ENDPOINTS;

use crate::test_server::{TestServer, code, order, status};
use crate::test_users::{basic, basic_with};

fn path_of(row: &web::endpoints::Endpoint) -> String {
    row.path.replace("{id}", "1").replace("{name}", "nobody").replace("{intId}", "none")
}

/// The decision before the handler: accepted, or the status of the rejection.
fn verdict(answer: &str) -> &'static str {
    match code(answer).as_str() {
        "401 login-needed" => "401",
        "403 role-too-low" => "403",
        _ => "yes",
    }
}

#[test]
fn the_table_says_what_every_role_may_do() {
    let server = TestServer::open(|_| Ok(Answer::Done));
    server.users.add("somebody", UserRole::Viewer);
    let roles = [UserRole::Viewer, UserRole::Trader, UserRole::Strategy("MOMENTUM".into()), UserRole::Admin];
    let bearers = roles.map(|role| server.users.bearer(&format!("a-{}", role.name()), role));
    let callers = std::iter::once(String::new()).chain(bearers).collect::<Vec<_>>();
    let mut page = PAGE.to_owned();
    for row in ENDPOINTS {
        let verdict = |caller: &String| verdict(&server.call(row.method, &path_of(row), caller, ""));
        let verdicts: Vec<_> = callers.iter().map(verdict).collect();
        page.push_str(&format!("| `{}` | {} |\n", row.action, verdicts.join(" | ")));
    }
    expect_file!["../../../../docs/roles.md"].assert_eq(&page);
}

const PAGE: &str = "\
# Roles

This page shows what each role may call once a user is configured. The column `nobody` is for requests without credentials. A test
wrote the table from the answers of a server to every path for every role: 401 means that a login is needed, 403 that the role is too
low. The role strategy is a trader bound to one strategy: its orders and its other actions always belong to that strategy. How to
create users and tokens: [access](access.md).

| Call | nobody | viewer | trader | strategy | admin |
|---|---|---|---|---|---|
";

#[test]
fn out_of_the_box_a_caller_on_this_machine_needs_no_login() {
    let server = TestServer::without_engine(WebSettings::default());
    assert_eq!(status(&server.get("/rest/account")), "HTTP/1.1 200 OK");
    assert_eq!(status(&server.call("POST", "/rest/runtime/exit-vm", "", "")), "HTTP/1.1 200 OK");
}

#[test]
fn an_unauthenticated_caller_is_challenged() {
    let server = TestServer::without_engine(WebSettings::default());
    server.users.add("anna", UserRole::Viewer);
    expect![[r#"
        HTTP/1.1 401 Unauthorized
        content-type: application/problem+json
        www-authenticate: Basic realm="Rialto"
        access-control-allow-origin: *
        access-control-expose-headers: Location, Rialto-After, Rialto-Journal, Rialto-Sequence, X-Request-Id
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        content-length: 163
        connection: close

        {"type":"urn:rialto:problem:login-needed","title":"Unauthorized","status":401,"detail":"say who you are: a user with a password, or a token","code":"login-needed"}"#]].assert_eq(&server.get("/rest/account"));
    let page = server.call("GET", "/rest/account", "Rialto-Source: UI\r\n", "");
    assert!(code(&page) == "401 login-needed" && !page.contains("www-authenticate"), "no pop-up over a page: {page}");
    assert_eq!(status(&server.get("/health/live")), "HTTP/1.1 200 OK");
}

#[test]
fn a_user_and_a_program_come_in_by_their_header() {
    let server = TestServer::without_engine(WebSettings::default());
    server.users.add("anna", UserRole::Viewer);
    let robot = server.users.bearer("robot", UserRole::Viewer);
    for header in [basic("anna"), robot.clone(), basic_with("robot", robot.split(' ').nth(2).unwrap().trim())] {
        assert_eq!(status(&server.call("GET", "/rest/account", &header, "")), "HTTP/1.1 200 OK", "{header}");
    }
    let wrong = [
        (basic_with("anna", "wrong horse"), "401 wrong-credentials"),
        (basic("bert"), "401 wrong-credentials"),
        ("Authorization: Bearer rialto\r\n".into(), "401 wrong-credentials"),
        ("Authorization: Digest x\r\n".into(), "401 unreadable-credentials"),
    ];
    for (header, expected) in wrong {
        assert_eq!(code(&server.call("GET", "/rest/account", &header, "")), expected, "{header}");
    }
}

#[test]
fn a_refusal_names_the_required_role() {
    let server = TestServer::without_engine(WebSettings::default());
    server.users.add("anna", UserRole::Trader);
    let answer = server.call("POST", "/rest/runtime/exit-vm", &basic("anna"), "");
    assert_eq!(code(&answer), "403 role-too-low");
    assert!(answer.contains("this needs the role admin, and yours is trader"), "{answer}");
    assert!(!*server.program.stopped.lock().unwrap());
}

#[test]
fn an_order_carries_the_user_that_sent_it() {
    let server = TestServer::open(|_| Ok(Answer::Order(order("A-1"))));
    server.users.add("anna", UserRole::Trader);
    place(&server, &basic("anna"), "");
    let callers: Vec<_> = server.commands().into_iter().map(|envelope| envelope.caller.user).collect();
    assert_eq!(callers, [Some("anna".into())]);
}

fn place(server: &TestServer, header: &str, more: &str) -> String {
    let body = format!(r#"{{"securityId": 1, "side": "BUY", "quantity": 1{more}}}"#);
    let headers = format!("Content-Type: application/json\r\n{header}");
    code(&server.call("POST", "/rest/execution/order/market", &headers, &body))
}

#[test]
fn a_strategy_trades_in_its_own_name() {
    let server = TestServer::open(|_| Ok(Answer::Order(order("A-1"))));
    let momentum = server.users.bearer("robot", UserRole::Strategy("MOMENTUM".into()));
    assert_eq!(place(&server, &momentum, ""), "200 -");
    assert_eq!(place(&server, &momentum, r#", "strategyName": "MOMENTUM""#), "200 -");
    assert_eq!(place(&server, &momentum, r#", "strategyName": "SERVER""#), "403 foreign-strategy");
    let strategies = server.commands().into_iter().map(|envelope| match envelope.command {
        Command::Place(order) => order.strategy,
        other => panic!("{other:?}"),
    });
    assert_eq!(strategies.collect::<Vec<_>>(), [Some(StrategyId(2)), Some(StrategyId(2))]);
    let lost = server.users.bearer("lost", UserRole::Strategy("GONE".into()));
    assert_eq!(place(&server, &lost, ""), "403 foreign-strategy");
}

#[test]
fn a_strategy_leaves_what_belongs_to_others_alone() {
    let desk = TestServer::open(|wanted| match wanted {
        bus::RequestPayload::Query(query) if matches!(**query, Query::Positions(_)) => Ok(Answer::Positions(vec![])),
        bus::RequestPayload::Query(_) => Ok(Answer::Orders(vec![order("A-1")])),
        _ => Ok(Answer::Order(order("A-1"))),
    });
    // The order of this test server is the server's own.
    let (momentum, server) = (
        desk.users.bearer("robot", UserRole::Strategy("MOMENTUM".into())),
        desk.users.bearer("other", UserRole::Strategy("SERVER".into())),
    );
    let cancel = |header: &str| code(&desk.call("DELETE", "/rest/execution/order/A-1", header, ""));
    assert_eq!((cancel(&momentum), cancel(&server)), ("403 foreign-strategy".into(), "200 -".into()));
    let json = |header: &str| format!("Content-Type: application/json\r\n{header}");
    let modify = |header: &str| {
        let body = r#"{"intId": "A-1", "quantity": 5}"#;
        code(&desk.call("POST", "/rest/execution/modify/order/limit", &json(header), body))
    };
    assert_eq!((modify(&momentum), modify(&server)), ("403 foreign-strategy".into(), "200 -".into()));
    let kill = |scope: &str| {
        let body = format!(r#"{{"scope": "{scope}"}}"#);
        code(&desk.call("POST", "/rest/risk/kill", &json(&momentum), &body))
    };
    assert_eq!(kill("PLATFORM"), "403 foreign-strategy");
    assert_eq!(kill("STRATEGY-1"), "403 foreign-strategy");
    let dead_man = |method: &str, path: &str, body: &str| code(&desk.call(method, path, &json(&momentum), body));
    let timer = "/rest/risk/dead-man-timer";
    assert_eq!(dead_man("PUT", timer, r#"{"scope": "PLATFORM", "seconds": 30}"#), "403 foreign-strategy");
    assert_eq!(dead_man("DELETE", &format!("{timer}/STRATEGY-1"), ""), "403 foreign-strategy");
    let reduced = desk.call("DELETE", "/rest/position/7", &momentum, "");
    assert_eq!(status(&reduced), "HTTP/1.1 200 OK", "a position that nobody knows is for the engine to refuse");
    let told: Vec<_> = desk.commands().into_iter().map(|envelope| envelope.command).collect();
    assert!(
        matches!(&told[..], [Command::Cancel(_), Command::Modify(_), Command::Reduce(reduce)]
        if reduce.position == PositionId(7)),
        "{told:?}"
    );
}
