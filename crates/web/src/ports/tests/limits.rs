use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use futures_util::stream;
use h2::Reason;
use rustls::version::TLS13;
use tokio::io::AsyncWriteExt;

use super::harness::{GET_AND_CLOSE, PortHarness, hello_router, http2_client, read_to_end, request, text_of};
use crate::settings::{Http2Limits, HttpLimits};

const SOON: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_client_that_never_begins_or_ends_its_headers_is_cut() {
    let desk = PortHarness::open(hello_router(), HttpLimits { header_timeout: SOON, ..HttpLimits::default() }).await;
    for beginning in ["", "P", "PRI * HT", "GET / HTTP/1.1\r\nHost: loc"] {
        let mut slow = desk.connect().await;
        slow.write_all(beginning.as_bytes()).await.unwrap();
        assert_eq!(read_to_end(slow).await, "", "{beginning}");
    }
}

#[tokio::test]
async fn a_client_that_never_ends_its_handshake_is_cut() {
    let desk = PortHarness::open(hello_router(), HttpLimits { handshake_timeout: SOON, ..HttpLimits::default() }).await;
    let mut slow = tokio::net::TcpStream::connect(desk.https).await.unwrap();
    slow.write_all(&[0x16, 3, 1]).await.unwrap();
    assert_eq!(read_to_end(slow).await, "");
}

#[tokio::test]
async fn an_idle_http2_connection_gets_a_goaway() {
    let desk = PortHarness::open(hello_router(), HttpLimits { header_timeout: SOON, ..HttpLimits::default() }).await;
    let (mut client, left) = http2_client(desk.connect().await).await;
    assert_eq!(text_of(client.send_request(request("/")).await.unwrap()).await, "hello");
    left.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_http2_client_without_requests_is_cut() {
    let desk = PortHarness::open(hello_router(), HttpLimits { header_timeout: SOON, ..HttpLimits::default() }).await;
    let mut mute = desk.connect().await;
    mute.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    let mut said = vec![];
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut mute, &mut said).await;
    assert_ne!(said, [0; 0], "settings and a goodbye");
}

#[tokio::test]
async fn headers_that_are_too_long_are_431_in_both_versions() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    let long = "x".repeat(17 << 10);
    let answer = desk.exchange(&format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: {long}\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    let (client, connection) = h2::client::handshake(desk.connect().await).await.unwrap();
    tokio::spawn(connection);
    let mut asked = request("/");
    asked.headers_mut().insert("x-long", long.parse().unwrap());
    let (response, _) = client.ready().await.unwrap().send_request(asked.map(|_| ()), true).unwrap();
    assert_eq!(response.await.unwrap().status(), 431);
}

#[tokio::test]
async fn one_connection_too_many_is_turned_away() {
    let desk = PortHarness::open(hello_router(), HttpLimits { connections: 1, ..HttpLimits::default() }).await;
    let (mut client, _connection) = http2_client(desk.connect().await).await;
    assert_eq!(text_of(client.send_request(request("/")).await.unwrap()).await, "hello");
    expect_test::expect![[r#"
        HTTP/1.1 503 Service Unavailable
        content-type: application/problem+json
        retry-after: 1
        connection: close
        content-length: 176

        {"type":"urn:rialto:problem:too-many-connections","title":"Service Unavailable","status":503,"detail":"no more connections are served; try again","code":"too-many-connections"}"#]]
    .assert_eq(&desk.exchange(GET_AND_CLOSE).await.replace("\r\n", "\n"));
    assert!(desk.tls_connect(&["h2"], &[&TLS13]).await.is_err(), "without a word");
    drop(client);
    desk.wait_until_served().await;
}

/// An answer without end.
fn endless() -> Router {
    let body = || async { Body::from_stream(stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(1 << 14)))) };
    Router::new().route("/", get(body))
}

#[tokio::test]
async fn a_client_that_stops_reading_is_cut_in_both_versions_with_and_without_tls() {
    let limits = HttpLimits { write_timeout: SOON, connections: 1, ..HttpLimits::default() };
    let desk = PortHarness::open(endless(), limits).await;
    let mut lazy = desk.connect().await;
    lazy.write_all(GET_AND_CLOSE.as_bytes()).await.unwrap();
    let mut lazy_too = shaken(&desk, "http/1.1").await;
    lazy_too.write_all(GET_AND_CLOSE.as_bytes()).await.unwrap();
    // The first one is cut before the second has a permit.
    let (mut client, cut) = http2_client(shaken(&desk, "h2").await).await;
    let unread = client.send_request(request("/")).await.unwrap();
    drop(client);
    // Neither of the bodies was read.
    let _ = cut.await.unwrap();
    drop((lazy, lazy_too, unread));
}

/// Handshakes as soon as there is a permit.
async fn shaken(desk: &PortHarness, offered: &str) -> tokio_rustls::client::TlsStream<tokio::net::TcpStream> {
    loop {
        if let Ok(stream) = desk.tls_connect(&[offered], &[&TLS13]).await {
            return stream;
        }
        tokio::task::yield_now().await;
    }
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// `GET / HTTP/2`, and an immediate reset.
fn begun_and_taken_back(stream: u32) -> Vec<u8> {
    let get = [&[0x82, 0x86, 0x84, 0x01, 9], &b"localhost"[..]].concat();
    let cancel = u32::from(Reason::CANCEL).to_be_bytes();
    [frame(1, 0x05, stream, &get), frame(3, 0, stream, &cancel)].concat()
}

#[tokio::test]
async fn requests_that_are_taken_back_at_once_end_the_connection() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    let mut hasty = desk.connect().await;
    let (preface, settings) = (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", frame(4, 0, 0, &[]));
    let flood: Vec<u8> = (0..10_000).flat_map(|number| begun_and_taken_back(2 * number + 1)).collect();
    let (mut reading, mut writing) = hasty.split();
    let mut said = vec![];
    let all = [&preface[..], &settings, &flood].concat();
    let _ = tokio::join!(writing.write_all(&all), tokio::io::AsyncReadExt::read_to_end(&mut reading, &mut said));
    assert_eq!(goodbye(&said), Some(Reason::ENHANCE_YOUR_CALM));
}

/// The reason of a GOAWAY among the frames.
fn goodbye(mut frames: &[u8]) -> Option<Reason> {
    while let [a, b, c, kind, _flags, _, _, _, _, rest @ ..] = frames {
        let (payload, next) = rest.split_at_checked(u32::from_be_bytes([0, *a, *b, *c]) as usize)?;
        if *kind == 7 {
            return Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()).into());
        }
        frames = next;
    }
    None
}

#[tokio::test]
async fn more_requests_at_a_time_than_allowed_wait_at_the_client() {
    let http2 = Http2Limits { streams: 1, ..Http2Limits::default() };
    let desk = PortHarness::open(hello_router(), HttpLimits { http2, ..HttpLimits::default() }).await;
    let (client, connection) = h2::client::handshake(desk.connect().await).await.unwrap();
    tokio::spawn(connection);
    let mut client = client.ready().await.unwrap();
    let (answered, _) = client.send_request(request("/").map(|_| ()), true).unwrap();
    assert_eq!(answered.await.unwrap().status(), 200);
    assert_eq!(client.current_max_send_streams(), 1);
}
