//! Routes of other crates on the same ports.

use axum::Router;
use axum::routing::get;
use web::{HttpLimits, WebSettings};

use crate::test_server::{TestServer, code, status};

/// A service that might be a WebSocket.
fn with_news() -> WebSettings {
    WebSettings { others: Router::new().route("/stomp", get(|| async { "news" })), ..WebSettings::default() }
}

#[test]
fn a_service_beside_ours_is_served_and_ours_too() {
    let server = TestServer::without_engine(with_news());
    let answer = server.get("/stomp");
    assert!(answer.ends_with("\n\nnews") && answer.contains("\nx-request-id: story\n"), "{answer}");
    assert_eq!(status(&server.get("/rest/account")), "HTTP/1.1 200 OK");
    assert_eq!(code(&server.get("/stomp/nothing")), "404 no-such-path");
    assert_eq!(code(&server.delete("/stomp")), "405 method-not-allowed");
}

#[test]
fn hosts_and_origins_are_checked_for_it_too() {
    let server = TestServer::without_engine(with_news());
    let upgrade = |origin: &str| {
        let headers = format!("Upgrade: websocket\r\nOrigin: {origin}\r\n");
        code(&server.call("GET", "/stomp", &headers, ""))
    };
    assert_eq!(upgrade("http://evil.example"), "403 foreign-origin");
    assert_eq!(upgrade(&format!("http://{}", server.address)), "200 -");
    let rebound = "GET /stomp HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(code(&server.exchange(rebound)), "403 foreign-host");
}

#[test]
fn its_requests_count_like_ours() {
    let limits = HttpLimits { requests_per_second: 1, ..HttpLimits::default() };
    let server = TestServer::without_engine(WebSettings { limits, ..with_news() });
    let refused = std::iter::repeat_with(|| server.get("/stomp")).find(|answer| status(answer) != "HTTP/1.1 200 OK");
    let refused = refused.unwrap();
    assert_eq!(code(&refused), "429 too-many-requests");
    assert!(refused.contains("\nretry-after: 1\n"), "{refused}");
}
