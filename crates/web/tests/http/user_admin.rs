//! Login and logout, users, tokens, the audit.

use access::UserRole;
use domain::Answer;
use expect_test::expect;
use web::WebSettings;

use crate::test_server::{TestServer, code, status};
use crate::test_users::{PASSWORD, basic};

const JSON: &str = "Content-Type: application/json\r\n";

fn login(server: &TestServer, user: &str, password: &str) -> String {
    server.post("/rest/login", &format!(r#"{{"user": "{user}", "password": "{password}"}}"#))
}

/// The cookie that an answer sets, as a browser sends it back.
fn cookie(answer: &str) -> String {
    let line = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    format!("Cookie: {}\r\n", line.split(';').next().unwrap())
}

/// A response with random prefixes and secrets masked.
fn blotted(answer: &str) -> String {
    let is_chance = |word: &str| [12, 64].contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = answer.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let blot = |part: &str| {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_chance(word) { part.replace(word, "*") } else { part.to_owned() }
    };
    parts.map(blot).collect()
}

#[test]
fn a_page_logs_in_and_out_with_a_cookie() {
    let server = TestServer::without_engine(WebSettings::default());
    server.users.add("anna", UserRole::Strategy("MOMENTUM".into()));
    let answer = login(&server, "anna", PASSWORD);
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        set-cookie: rialto-session=*; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        content-length: 55
        connection: close

        {"user":"anna","role":"STRATEGY","strategy":"MOMENTUM"}"#]]
    .assert_eq(&blotted(&answer));
    let cookie = cookie(&answer);
    let who = || server.call("GET", "/rest/login", &cookie, "");
    assert!(who().contains(r#"{"user":"anna","role":"STRATEGY","strategy":"MOMENTUM"}"#), "{}", who());
    let out = server.call("POST", "/rest/logout", &cookie, "");
    assert!(out.contains("\nset-cookie: rialto-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict\n"), "{out}");
    assert_eq!(code(&who()), "401 session-ended");
    assert_eq!(status(&server.call("POST", "/rest/logout", &cookie, "")), "HTTP/1.1 200 OK", "twice does no harm");
    expect![[r#"
        anna REST 127.0.0.1 [POST /rest/login] done: session begun (1x)
        anna REST 127.0.0.1 [POST /rest/logout] done: session ended (1x)
        - REST 127.0.0.1 [GET /rest/login] session-ended: the session has ended; log in again (1x)
    "#]]
    .assert_eq(&server.users.audit());
}

#[test]
fn a_session_ends_after_half_an_hour_of_silence() {
    let server = TestServer::without_engine(WebSettings::default());
    server.users.add("anna", UserRole::Viewer);
    let cookie = cookie(&login(&server, "anna", PASSWORD));
    server.users.pass(29 * 60);
    assert_eq!(status(&server.call("GET", "/rest/account", &cookie, "")), "HTTP/1.1 200 OK");
    server.users.pass(30 * 60);
    assert_eq!(code(&server.call("GET", "/rest/account", &cookie, "")), "401 session-ended");
}

#[test]
fn a_wrong_login_sets_no_cookie() {
    let server = TestServer::without_engine(WebSettings::default());
    server.users.add("anna", UserRole::Viewer);
    let answer = login(&server, "anna", "wrong horse");
    assert!(code(&answer) == "401 wrong-credentials" && !answer.contains("set-cookie"), "{answer}");
    assert_eq!(code(&server.post("/rest/login", r#"{"user": "anna"}"#)), "422 missing");
    assert_eq!(code(&server.post("/rest/login", "{")), "400 malformed-json");
    let foreign = format!("{JSON}Origin: http://evil.example\r\n");
    let body = format!(r#"{{"user": "anna", "password": "{PASSWORD}"}}"#);
    assert_eq!(code(&server.call("POST", "/rest/login", &foreign, &body)), "403 foreign-origin");
}

#[test]
fn an_admin_adds_changes_and_removes_users() {
    let server = TestServer::without_engine(WebSettings::default());
    let add = |header: &str, body: &str| code(&server.call("POST", "/rest/user", &format!("{JSON}{header}"), body));
    let boss = r#"{"name": "boss", "password": "correct horse", "role": "ADMIN"}"#;
    let viewer = r#"{"name": "vera", "password": "correct horse", "role": "VIEWER"}"#;
    assert_eq!(add("", viewer), "409 no-admin-left", "nobody could administer from then on");
    assert_eq!(add("", boss), "200 -", "the first one, by whoever sits at the machine");
    assert_eq!(add("", boss), "401 login-needed", "and from then on nobody is anonymous");
    let header = basic("boss");
    let robot = r#"{"name": "robot", "password": "correct horse", "role": "strategy", "strategy": "MOMENTUM"}"#;
    let refused = [
        (boss, "409 name-taken"),
        (r#"{"name": "a b", "password": "correct horse", "role": "ADMIN"}"#, "400 malformed-field"),
        (r#"{"name": "anna", "password": "short", "role": "ADMIN"}"#, "400 malformed-field"),
        (r#"{"name": "anna", "password": "correct horse", "role": "KING"}"#, "400 malformed-field"),
        (r#"{"name": "anna", "password": "correct horse", "role": "STRATEGY"}"#, "422 missing"),
        (r#"{"name": "anna", "password": "correct horse", "role": "ADMIN", "strategy": "MOMENTUM"}"#, "422 not-needed"),
        (
            r#"{"name": "anna", "password": "correct horse", "role": "STRATEGY", "strategy": "X"}"#,
            "422 unknown-strategy",
        ),
        (robot, "200 -"),
        (r#"{"name": "boss", "password": "correct horse", "role": "TRADER", "replace": true}"#, "409 no-admin-left"),
    ];
    for (body, expected) in refused {
        assert_eq!(add(&header, body), expected, "{body}");
    }
    let list = || server.call("GET", "/rest/user", &header, "");
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        vary: Accept
        vary: Accept-Encoding
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        connection: close
        transfer-encoding: chunked

        101
        [{"name":"boss","role":"ADMIN","strategy":null,"created":1794839400000,"accounts":null,"securities":null,"interfaces":null},{"name":"robot","role":"STRATEGY","strategy":"MOMENTUM","created":1794839400000,"accounts":null,"securities":null,"interfaces":null}]
        0

    "#]].assert_eq(&list());
    let remove = |name: &str| code(&server.call("DELETE", &format!("/rest/user/{name}"), &header, ""));
    assert_eq!(remove("boss"), "409 no-admin-left", "the robot would be alone");
    assert_eq!([remove("robot"), remove("robot"), remove("a%20b")], ["200 -", "404 unknown-user", "404 unknown-user"]);
    assert_eq!(remove("boss"), "200 -", "the last one too");
    assert_eq!(status(&server.get("/rest/user")), "HTTP/1.1 200 OK", "the desk is as it was");
}

#[test]
fn a_token_is_seen_once_and_works_until_it_is_revoked() {
    let server = TestServer::without_engine(WebSettings::default());
    server.users.add("boss", UserRole::Admin);
    let headers = format!("{JSON}{}", basic("boss"));
    let made = server.call("POST", "/rest/token", &headers, r#"{"name": "robot", "role": "VIEWER", "days": 7}"#);
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        content-length: 267
        connection: close

        {"name":"robot","prefix":"*","role":"VIEWER","strategy":null,"created":1794839400000,"expires":1795444200000,"accounts":null,"securities":null,"interfaces":null,"token":"rialto_*_*"}"#]]
    .assert_eq(&blotted(&made));
    let token = made.split_once("\"token\":\"").unwrap().1.split('"').next().unwrap();
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(status(&server.call("GET", "/rest/account", &bearer, "")), "HTTP/1.1 200 OK");
    let list = server.call("GET", "/rest/token", &headers, "");
    assert!(!list.contains(token) && list.contains("robot"), "{list}");
    let again = server.call("POST", "/rest/token", &headers, r#"{"name": "robot", "role": "VIEWER"}"#);
    assert_eq!(code(&again), "409 name-taken");
    let eternal =
        server.call("POST", "/rest/token", &headers, r#"{"name": "eternal", "role": "VIEWER", "days": 9999}"#);
    assert_eq!(code(&eternal), "400 malformed-field");
    assert_eq!(code(&server.call("DELETE", "/rest/token/robot", &headers, "")), "200 -");
    assert_eq!(code(&server.call("GET", "/rest/account", &bearer, "")), "401 wrong-credentials");
    assert_eq!(code(&server.call("DELETE", "/rest/token/robot", &headers, "")), "404 unknown-token");
}

#[test]
fn refusals_and_acts_of_power_stand_in_the_audit() {
    let server = TestServer::open(|wanted| match wanted {
        bus::RequestPayload::Command(envelope) if matches!(envelope.command, domain::Command::Kill { .. }) => {
            Ok(Answer::Killed { cancels: 0 })
        }
        _ => Ok(Answer::Done),
    });
    server.users.add("boss", UserRole::Admin);
    server.users.add("anna", UserRole::Trader);
    let (boss, anna) = (basic("boss"), basic("anna"));
    let robot = server.users.bearer("robot", UserRole::Strategy("MOMENTUM".into()));
    server.get("/rest/account");
    server.call("GET", "/rest/account", &anna, "");
    server.call("POST", "/rest/runtime/exit-vm", &format!("{anna}Rialto-Source: UI\r\n"), "");
    server.call("POST", "/rest/risk/kill", &format!("{JSON}{anna}"), r#"{"scope": "PLATFORM"}"#);
    server.call("POST", "/rest/risk/kill", &format!("{JSON}{robot}"), r#"{"scope": "PLATFORM"}"#);
    server.call("PUT", "/rest/risk/limit", &format!("{JSON}{boss}"), r#"{"scope": "PLATFORM", "maxOpenOrders": 5}"#);
    server.call("PUT", "/rest/risk/limit", &format!("{JSON}{boss}"), r#"{"maxOpenOrders": true}"#);
    server.call("POST", "/rest/position/reset-positions", &boss, "");
    server.call("POST", "/rest/token", &format!("{JSON}{boss}"), r#"{"name": "key", "role": "VIEWER"}"#);
    server.call("POST", "/rest/token", &format!("{JSON}{boss}"), r#"{"name": "key", "role": "VIEWER"}"#);
    server.call("POST", "/rest/runtime/exit-vm", &format!("{boss}Origin: http://evil.example\r\n"), "");
    server.exchange("GET /rest/account HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    server.call("POST", "/rest/runtime/exit-vm", &boss, "");
    expect![[r#"
        - REST 127.0.0.1 [GET /rest/account] login-needed: say who you are: a user with a password, or a token (1x)
        anna UI 127.0.0.1 [POST /rest/runtime/exit-vm] role-too-low: this needs the role admin, and yours is trader (1x)
        anna REST 127.0.0.1 [POST /rest/risk/kill] done: /rest/risk/kill, sequence 4711 (1x)
        robot REST 127.0.0.1 [POST /rest/risk/kill] foreign-strategy: this is not about your own strategy (1x)
        boss REST 127.0.0.1 [PUT /rest/risk/limit] done: /rest/risk/limit, sequence 4711 (1x)
        boss REST 127.0.0.1 [PUT /rest/risk/limit] malformed-field: /rest/risk/limit (1x)
        boss REST 127.0.0.1 [POST /rest/position/reset-positions] done: /rest/position/reset-positions, sequence 4711 (1x)
        boss REST 127.0.0.1 [POST /rest/token] done: token key, role viewer, 90 days (1x)
        boss REST 127.0.0.1 [POST /rest/token] name-taken: /rest/token (1x)
        - REST 127.0.0.1 [POST /rest/runtime/exit-vm] foreign-origin: a page of this origin may not act here (1x)
        - REST 127.0.0.1 [GET /rest/account] foreign-host: this host is not one of ours; http.hosts can add it (1x)
        boss REST 127.0.0.1 [POST /rest/runtime/exit-vm] done: /rest/runtime/exit-vm (1x)
    "#]].assert_eq(&server.users.audit());
    let page = server.call("GET", "/rest/audit?after=3&limit=1", &boss, "");
    expect![[r#"
        HTTP/1.1 200 OK
        content-type: application/json
        vary: Accept
        vary: Accept-Encoding
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        connection: close
        transfer-encoding: chunked

        EC
        [{"id":4,"dateTime":1794839400000,"user":null,"door":"REST","peer":"127.0.0.1","action":"GET /rest/account","outcome":"login-needed","detail":"say who you are: a user with a password, or a token","times":1,"lastDateTime":1794839400000}]
        0

    "#]].assert_eq(&page);
    let back = |query: &str| ids(&server.call("GET", &format!("/rest/audit?sort=NEWEST&{query}"), &boss, ""));
    assert_eq!(back("after=4&limit=2"), [3, 2]);
    assert_eq!(back("after=2"), [1]);
    assert!(back("limit=2").is_sorted_by(|newer, older| newer > older), "from the end where nothing is said");
}

fn ids(page: &str) -> Vec<u64> {
    let after_each = page.split(r#"{"id":"#).skip(1);
    after_each.map(|row| row[..row.find(',').unwrap()].parse().unwrap()).collect()
}
