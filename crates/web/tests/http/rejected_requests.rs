//! Rejected requests and limits.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use bus::inbox::{InboxReceiver, REQUESTS_MAX, inbox_with};
use bus::lanes::{LaneDepth, LaneLimits};
use bus::quotas::{InFlightLimit, InFlightLimits};
use bus::{Reply, RequestPayload};
use domain::{Answer, Caller, Command, CommandEnvelope, SecurityId};
use web::{HttpLimits, WebSettings};

use crate::test_server::{FakeOperations, TestServer, code, order, read_all, reference_data, status};

const ORDER: &str = r#"{"securityId": 1, "side": "BUY", "quantity": 100}"#;
const MARKET: &str = "/rest/execution/order/market";

fn limited(limits: HttpLimits) -> WebSettings {
    WebSettings { limits, ..WebSettings::default() }
}

#[test]
fn garbage_is_400_and_says_where() {
    let server = TestServer::without_engine(WebSettings::default());
    for body in ["{", "not json", "[1, 2]", "\u{0}", "{\"quantity\": 1, \"quantity\": 1000}", "{} {}", "NaN"] {
        assert_eq!(code(&server.post(MARKET, body)), "400 malformed-json", "{body}");
    }
    let empty = server.post(MARKET, "");
    assert!(empty.contains("EOF while parsing a value at line 1 column 0"), "{empty}");
    assert!(server.commands().is_empty());
}

#[test]
fn a_body_that_is_not_json_by_its_media_type_is_415() {
    let server = TestServer::without_engine(WebSettings::default());
    let headers = [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: application/jsonp\r\n",
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
    ];
    for headers in headers {
        assert_eq!(code(&server.call("POST", MARKET, headers, ORDER)), "415 unsupported-media-type", "{headers}");
    }
}

#[test]
fn too_much_is_refused_by_name() {
    let limits = HttpLimits { body_bytes: 64, ..HttpLimits::default() };
    let server = TestServer::without_engine(limited(limits));
    assert_eq!(code(&server.post(MARKET, &" ".repeat(65))), "413 body-too-large");
    let chunked = format!(
        "POST {MARKET} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n41\r\n{}\r\n0\r\n\r\n",
        server.address,
        " ".repeat(65)
    );
    assert_eq!(code(&server.exchange(&chunked)), "413 body-too-large");
    let endless = |more: &str| {
        let head = format!("POST {MARKET} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{more}", server.address);
        server.exchange(&format!("{head}Content-Type: application/json\r\nContent-Length: 4000000000\r\n\r\n"))
    };
    assert_eq!(code(&endless("")), "413 body-too-large", "a length that is declared is not waited for");
    let expecting = endless("Expect: 100-continue\r\n");
    assert_eq!(status(&expecting), "HTTP/1.1 413 Payload Too Large", "and nobody is told to go on");
    let long_url = format!("/rest/account?{}", "x".repeat(8 << 10));
    assert_eq!(code(&server.get(&long_url)), "414 url-too-long");
    let long_header = format!("X-Long: {}\r\n", "x".repeat(17 << 10));
    let answer = server.call("GET", "/rest/account", &long_header, "");
    assert_eq!(status(&answer), "HTTP/1.1 431 Request Header Fields Too Large");
}

#[test]
fn a_host_that_is_not_ours_may_not_even_read() {
    let server = TestServer::without_engine(WebSettings::default());
    let port = server.address.port();
    let ask =
        |host: &str| code(&server.exchange(&format!("GET /rest/account HTTP/1.1\r\n{host}Connection: close\r\n\r\n")));
    for ours in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        assert_eq!(ask(&format!("Host: {ours}\r\n")), "200 -", "{ours}");
    }
    for foreign in [format!("evil.example:{port}"), "localhost:1".into(), "localhost".into(), "?".into()] {
        assert_eq!(ask(&format!("Host: {foreign}\r\n")), "403 foreign-host", "{foreign}");
    }
    assert_eq!(ask(""), "400 missing-host");
    assert_eq!(ask(&format!("Host: localhost:{port}\r\nHost: evil.example\r\n")), "400 missing-host");
    let absolute =
        format!("GET http://evil.example/rest/account HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    assert_eq!(code(&server.exchange(&absolute)), "403 foreign-host");
}

#[test]
fn a_page_of_another_origin_may_not_act() {
    let server = TestServer::open(|_| Ok(Answer::Order(order("A-1"))));
    let act = |origin: &str| {
        let headers = format!("Content-Type: application/json\r\n{origin}");
        code(&server.call("POST", MARKET, &headers, ORDER))
    };
    for foreign in ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1"] {
        assert_eq!(act(&format!("Origin: {foreign}\r\n")), "403 foreign-origin", "{foreign}");
    }
    assert!(server.commands().is_empty());
    assert_eq!(act(&format!("Origin: http://{}\r\n", server.address)), "200 -");
    assert_eq!(act(""), "200 -", "no browser, no origin");
    let read = server.call("GET", "/rest/exchange", "Origin: http://evil.example\r\n", "");
    assert!(status(&read).contains("200") && !read.contains("access-control"), "read, but not shown to the page");
}

#[test]
fn a_method_that_a_path_does_not_take_is_405_with_those_it_takes() {
    let server = TestServer::without_engine(WebSettings::default());
    let answer = server.call("PATCH", "/rest/risk/limit", "", "");
    assert_eq!(code(&answer), "405 method-not-allowed");
    assert!(answer.contains("\nallow: GET,HEAD,PUT\n"), "{answer}");
}

#[test]
fn a_request_gets_a_number_where_it_brought_none() {
    let server = TestServer::without_engine(WebSettings::default());
    let number = |header: &str| {
        let request =
            format!("GET /health/live HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{header}\r\n", server.address);
        let answer = server.exchange(&request);
        answer.lines().find_map(|line| line.strip_prefix("x-request-id: ").map(ToString::to_string)).unwrap()
    };
    assert_eq!(number("X-Request-Id: mine\r\n"), "mine");
    assert!(number("").parse::<u64>().is_ok());
    assert!(number(&format!("X-Request-Id: {}\r\n", "x".repeat(129))).parse::<u64>().is_ok(), "too long to repeat");
}

/// An engine that accepts nothing until the test is over.
fn sleeping(settings: WebSettings) -> (TestServer, mpsc::Sender<()>) {
    let (story, over) = mpsc::channel();
    let server = TestServer::open_with(settings, FakeOperations::default(), reference_data(), asleep(over));
    (server, story)
}

fn sleeping_with(unanswered: InFlightLimits, limits: HttpLimits) -> (TestServer, mpsc::Sender<()>) {
    let (story, over) = mpsc::channel();
    let inbox = inbox_with(LaneLimits::default(), unanswered);
    let server = TestServer::open_on(inbox, limited(limits), FakeOperations::default(), reference_data(), asleep(over));
    (server, story)
}

fn asleep(over: mpsc::Receiver<()>) -> impl FnMut(InboxReceiver, Arc<Mutex<Vec<RequestPayload>>>) + Send + 'static {
    move |lanes, _| {
        let _ = over.recv();
        drop(lanes);
    }
}

#[test]
fn a_full_inbox_is_503_and_the_request_had_no_effect() {
    let (server, _story) = sleeping(WebSettings::default());
    let reset = || CommandEnvelope { caller: Caller::platform(), command: Command::ResetCash };
    let tickets: Vec<_> = (0..REQUESTS_MAX).map(|_| server.inbox.command(reset()).unwrap()).collect();
    for answer in [server.post(MARKET, ORDER), server.get("/rest/position")] {
        assert_eq!(code(&answer), "503 busy");
        assert!(answer.contains("\nretry-after: 1\n"), "{answer}");
    }
    drop(tickets);
}

/// Sends a request and does not wait for its answer.
fn send(server: &TestServer, request: &str) -> TcpStream {
    let mut stream = server.connect();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn waits(server: &TestServer, ordinary: usize, urgent: usize) {
    while server.inbox.depth() != (LaneDepth { ordinary, urgent }) {
        std::thread::yield_now();
    }
}

#[test]
fn a_client_with_too_many_unanswered_requests_is_429_and_may_still_cancel_and_kill() {
    let (server, story) = sleeping_with(ONE_PER_PEER, HttpLimits::default());
    let order = send(&server, &post(&server, MARKET, ORDER));
    waits(&server, 1, 0);
    for answer in [server.post(MARKET, ORDER), server.get("/rest/position")] {
        assert_eq!(code(&answer), "429 too-many-unanswered");
        assert!(answer.contains("\nretry-after: 1\n"), "{answer}");
    }
    assert_eq!(status(&server.get("/health/live")), "HTTP/1.1 200 OK");
    let cancel = send(&server, &delete(&server, "A-1"));
    waits(&server, 1, 1);
    let kill = post(&server, "/rest/risk/kill", r#"{"scope": "PLATFORM", "reason": "test"}"#);
    let kills: Vec<_> = (0..3).map(|_| send(&server, &kill)).collect();
    waits(&server, 1, 4);
    drop((story, order, cancel, kills));
}

const ONE_PER_PEER: InFlightLimits = InFlightLimits { per_session: 256, per_user: 256, per_peer: 1 };

fn post(server: &TestServer, path: &str, body: &str) -> String {
    let (length, host) = (body.len(), server.address);
    let headers = format!("Host: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n");
    format!("POST {path} HTTP/1.1\r\n{headers}\r\n{body}")
}

fn delete(server: &TestServer, order: &str) -> String {
    format!("DELETE /rest/execution/order/{order} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address)
}

#[test]
fn a_disconnect_frees_no_quota_before_the_command_is_done() {
    let (server, story) = sleeping_with(ONE_PER_PEER, one_place());
    let order = send(&server, &post(&server, MARKET, ORDER));
    waits(&server, 1, 0);
    drop(order);
    // As soon as another client is served, nothing of the first connection is left.
    while status(&server.get("/health/live")) != "HTTP/1.1 200 OK" {}
    let again = loop {
        let answer = server.post(MARKET, ORDER);
        if code(&answer) != "503 too-many-connections" {
            break answer;
        }
    };
    assert_eq!(code(&again), "429 too-many-unanswered");
    drop(story);
}

#[test]
fn a_cancel_waits_for_those_of_its_address_and_is_not_refused() {
    let (story, over) = mpsc::channel::<()>();
    let inbox = inbox_with(LaneLimits::default(), ONE_PER_PEER);
    let engine = move |lanes: InboxReceiver, _: Arc<Mutex<Vec<RequestPayload>>>| {
        let _ = over.recv();
        for request in &lanes.requests {
            request.reply_to.send(Reply { sequence: 1, outcome: Ok(Answer::Done) });
        }
    };
    let server =
        TestServer::open_on(inbox, WebSettings::default(), FakeOperations::default(), reference_data(), engine);
    let first = send(&server, &delete(&server, "A-1"));
    waits(&server, 0, 1);
    let second = send(&server, &delete(&server, "A-2"));
    while server.inbox.quotas().throttled(InFlightLimit::Peer) == 0 {
        std::thread::yield_now();
    }
    story.send(()).unwrap();
    for mut answer in [first, second] {
        let mut head = [0; 12];
        answer.read_exact(&mut head).unwrap();
        assert_eq!(String::from_utf8_lossy(&head), "HTTP/1.1 200");
    }
}

#[test]
fn a_cancel_does_not_wait_for_the_fix_sessions_of_its_address() {
    let inbox = inbox_with(LaneLimits::default(), ONE_PER_PEER);
    let engine = |lanes: InboxReceiver, _: Arc<Mutex<Vec<RequestPayload>>>| {
        for request in &lanes.requests {
            request.reply_to.send(Reply { sequence: 1, outcome: Ok(Answer::Done) });
        }
    };
    let server =
        TestServer::open_on(inbox, WebSettings::default(), FakeOperations::default(), reference_data(), engine);
    let session = server.inbox.quotas().session(None, Some(server.address.ip()));
    // A cancel of that session for which there is no answer yet, as many as an address may have.
    let held = session.try_acquire_class(bus::lanes::RequestClass::Cancel).unwrap();
    let mut answer = send(&server, &delete(&server, "A-1"));
    let mut head = [0; 12];
    answer.read_exact(&mut head).unwrap();
    assert_eq!(String::from_utf8_lossy(&head), "HTTP/1.1 200");
    drop(held);
}

#[test]
fn an_order_without_an_answer_has_an_unknown_outcome() {
    let limits = HttpLimits { request_timeout: Duration::from_millis(20), ..HttpLimits::default() };
    let (server, _story) = sleeping(limited(limits));
    let answer = server.post(MARKET, ORDER);
    assert_eq!(code(&answer), "503 outcome-unknown");
    assert!(answer.contains("look an order up by its intId") && !answer.contains("retry-after"), "{answer}");
    assert_eq!(code(&server.get("/rest/position")), "503 stopping", "a question has no outcome to be unsure of");
}

#[test]
fn an_engine_that_stops_leaves_one_outcome_unknown_and_takes_no_more() {
    let server =
        TestServer::open_with(WebSettings::default(), FakeOperations::default(), reference_data(), |lanes, heard| {
            let request = lanes.requests.recv().unwrap();
            drop(lanes);
            heard.lock().unwrap().push(request.payload);
        });
    assert_eq!(code(&server.post(MARKET, ORDER)), "503 outcome-unknown");
    assert!(matches!(server.received.lock().unwrap()[..], [RequestPayload::Command(_)]));
    assert_eq!(code(&server.post(MARKET, ORDER)), "503 stopping");
    assert_eq!(code(&server.get("/rest/position")), "503 stopping");
    assert_eq!(status(&server.get("/rest/account")), "HTTP/1.1 200 OK", "what needs no engine is still served");
}

#[test]
fn an_answer_that_does_not_fit_is_our_fault() {
    let server = TestServer::open(|_| Ok(Answer::Done));
    assert_eq!(code(&server.get("/rest/position")), "500 internal");
}

/// With a limit of one connection, a second one is rejected until the first was cut.
fn one_place() -> HttpLimits {
    HttpLimits { connections: 1, ..HttpLimits::default() }
}

fn is_served_at_last(server: &TestServer) {
    while status(&server.get("/rest/account")) != "HTTP/1.1 200 OK" {
        std::thread::yield_now();
    }
}

#[test]
fn a_client_that_never_ends_its_headers_is_disconnected() {
    let limits = HttpLimits { header_timeout: Duration::from_millis(20), ..HttpLimits::default() };
    let server = TestServer::without_engine(limited(limits));
    let mut slow = server.connect();
    slow.write_all(b"GET /rest/account HTTP/1.1\r\nHost: loc").unwrap();
    assert_eq!(read_all(slow), "");
    is_served_at_last(&server);
}

#[test]
fn a_client_that_never_ends_its_body_is_408_and_disconnected() {
    let limits = HttpLimits { request_timeout: Duration::from_millis(20), ..one_place() };
    let server = TestServer::without_engine(limited(limits));
    let mut slow = server.connect();
    let headers = format!("Host: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n", server.address);
    slow.write_all(format!("POST {MARKET} HTTP/1.1\r\n{headers}\r\n{{").as_bytes()).unwrap();
    assert_eq!(code(&read_all(slow)), "408 request-timeout");
    is_served_at_last(&server);
}

#[test]
fn a_client_that_stops_reading_is_disconnected() {
    let mut reference = reference_data();
    // More than the buffers of both sockets hold.
    reference.securities = (1..=60_000).map(|id| (SecurityId(id), samples::stock(id, "MANY").into())).collect();
    let limits = HttpLimits { write_timeout: Duration::from_millis(20), ..one_place() };
    let server = TestServer::open_with(limited(limits), FakeOperations::default(), reference, |_, _| {});
    let mut lazy = server.connect();
    let request = format!("GET /rest/security HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    lazy.write_all(request.as_bytes()).unwrap();
    is_served_at_last(&server);
    drop(lazy);
}

#[test]
fn a_stranger_sends_four_kibibytes_at_the_most() {
    let server = TestServer::without_engine(WebSettings::default());
    assert_eq!(code(&server.post("/rest/login", &" ".repeat(4_097))), "413 body-too-large");
    let unended = |length: usize| {
        let headers =
            format!("Host: {}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n", server.address);
        let mut slow = server.connect();
        slow.write_all(format!("POST /rest/login HTTP/1.1\r\n{headers}\r\n{{").as_bytes()).unwrap();
        code(&read_all(slow))
    };
    assert_eq!(unended(1 << 20), "413 body-too-large", "and nothing of it is waited for");
    assert_eq!(code(&server.post("/rest/login", &" ".repeat(4_096))), "400 malformed-json");
}

#[test]
fn strangers_give_way_and_who_was_let_in_stays() {
    let server = TestServer::without_engine(limited(one_place()));
    let silent = server.connect();
    let mut trader = server.connect();
    let request = format!("GET /rest/account HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    trader.write_all(request.as_bytes()).unwrap();
    assert_eq!(read_all(silent), "", "it gave way");
    let mut first = [0; 15];
    trader.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    assert_eq!(code(&server.get("/rest/account")), "503 too-many-connections");
    drop(trader);
    is_served_at_last(&server);
}

#[test]
fn one_connection_serves_many_requests() {
    let server = TestServer::without_engine(WebSettings::default());
    let mut stream = server.connect();
    let request = |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", server.address);
    let pipelined = request("/rest/account", "") + &request("/health/live", "Connection: close\r\n");
    stream.write_all(pipelined.as_bytes()).unwrap();
    assert_eq!(read_all(stream).matches("HTTP/1.1 200 OK").count(), 2);
}

#[test]
fn a_request_that_has_begun_is_finished_before_the_server_stops() {
    let (story, over) = mpsc::channel::<()>();
    let (taken, begun) = mpsc::channel();
    let mut server =
        TestServer::open_with(WebSettings::default(), FakeOperations::default(), reference_data(), move |lanes, _| {
            let request = lanes.requests.recv().unwrap();
            taken.send(()).unwrap();
            let _ = over.recv();
            request.reply_to.send(Reply { sequence: 1, outcome: Ok(Answer::Order(order("A-1"))) });
        });
    let mut stream = server.connect();
    let headers =
        format!("Host: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", server.address, ORDER.len());
    stream.write_all(format!("POST {MARKET} HTTP/1.1\r\n{headers}\r\n{ORDER}").as_bytes()).unwrap();
    begun.recv().unwrap();
    server.ask_to_stop();
    drop(story);
    let answer = read_all(stream);
    assert!(answer.contains("\nlocation: /rest/execution/order/A-1\n"), "{answer}");
    server.wait_until_stopped();
}
