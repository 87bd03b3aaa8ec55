use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use flate2::read::GzDecoder;
use futures_util::stream;
use http_body_util::BodyExt;

use super::harness::{PortHarness, hello_router, http1_client, http2_client, request, text_of};
use crate::middleware::compression::ContentCoding;
use crate::middleware::rate_limit::HttpRateLimiter;
use crate::problem::Problem;
use crate::settings::HttpLimits;

const JSON: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

/// A list as the server sends it: JSON in chunks, without a length.
fn lists() -> Router {
    let list = |items: usize| {
        let pieces = stream::iter((0..items).map(|item| Ok::<_, std::io::Error>(format!("item {item}, "))));
        async { (JSON, Body::from_stream(pieces)) }
    };
    Router::new()
        .route("/long", get(move || list(100_000)).post(move || list(100_000)))
        .route("/short", get(move || list(3)))
        .route("/known", get(|| async { (JSON, "known ".repeat(1_000)) }))
        .route("/secret", post(|| async { (JSON, "secret ".repeat(1_000)) }))
        .layer(from_fn(compressed))
}

async fn compressed(request: Request, next: Next) -> Response {
    let reader = ContentCoding::negotiate(&request);
    reader.encode_response(next.run(request).await).await
}

async fn paced(State(pace): State<Arc<HttpRateLimiter>>, request: Request, next: Next) -> Result<Response, Problem> {
    pace.check_peer(&request, Instant::now(), false)?;
    Ok(next.run(request).await)
}

async fn ask(desk: &PortHarness, method: Method, path: &str, accepted: &'static str) -> (HeaderMap, Vec<u8>) {
    let mut asked = request(path);
    *asked.method_mut() = method;
    asked.headers_mut().insert(header::ACCEPT_ENCODING, accepted.parse().unwrap());
    let response = http1_client(desk.connect().await).await.send_request(asked).await.unwrap();
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(header::DATE);
    (parts.headers, body.collect().await.unwrap().to_bytes().to_vec())
}

fn shown(headers: &HeaderMap) -> Vec<String> {
    headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
}

fn unzipped(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

#[tokio::test]
async fn a_long_response_is_compressed_for_clients_that_accept_it() {
    let desk = PortHarness::open(lists(), HttpLimits::default()).await;
    let (headers, bytes) = ask(&desk, Method::GET, "/long", "gzip, br").await;
    let expected = [
        "content-type: application/json",
        "vary: Accept-Encoding",
        "content-encoding: gzip",
        "transfer-encoding: chunked",
    ];
    assert_eq!(shown(&headers), expected);
    let (headers, plain) = ask(&desk, Method::GET, "/long", "identity").await;
    assert_eq!(
        shown(&headers),
        ["content-type: application/json", "vary: Accept-Encoding", "transfer-encoding: chunked"]
    );
    assert_eq!(unzipped(&bytes), String::from_utf8(plain).unwrap());
    let (headers, known) = ask(&desk, Method::GET, "/known", "gzip").await;
    assert_eq!(headers.get(header::CONTENT_LENGTH), None, "it is not known before");
    assert_eq!(unzipped(&known), "known ".repeat(1_000));
}

#[tokio::test]
async fn a_compressed_answer_is_the_same_over_http2() {
    let desk = PortHarness::open(lists(), HttpLimits::default()).await;
    let (mut client, _connection) = http2_client(desk.connect().await).await;
    let mut asked = request("/long");
    asked.headers_mut().insert(header::ACCEPT_ENCODING, "gzip".parse().unwrap());
    let response = client.send_request(asked).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    assert!(unzipped(&bytes).ends_with("item 99999, "));
}

#[tokio::test]
async fn a_short_answer_goes_out_as_it_is_and_so_does_what_is_not_read() {
    let desk = PortHarness::open(lists(), HttpLimits::default()).await;
    let (headers, bytes) = ask(&desk, Method::GET, "/short", "gzip").await;
    assert_eq!(
        shown(&headers),
        ["content-type: application/json", "vary: Accept-Encoding", "transfer-encoding: chunked"]
    );
    assert_eq!(bytes, b"item 0, item 1, item 2, ");
    let (headers, bytes) = ask(&desk, Method::POST, "/secret", "gzip").await;
    assert_eq!(
        (shown(&headers), bytes.len()),
        (vec!["content-type: application/json".into(), "content-length: 7000".into()], 7_000)
    );
}

#[tokio::test]
async fn head_says_what_get_would() {
    let desk = PortHarness::open(lists(), HttpLimits::default()).await;
    for path in ["/long", "/short", "/known"] {
        let (mut read, _) = ask(&desk, Method::GET, path, "gzip").await;
        let (headers, bytes) = ask(&desk, Method::HEAD, path, "gzip").await;
        read.remove(header::TRANSFER_ENCODING);
        assert_eq!((shown(&headers), bytes), (shown(&read), vec![]), "{path}");
    }
}

#[tokio::test]
async fn more_requests_than_a_peer_may_send_are_429_on_every_connection() {
    let router = hello_router().layer(from_fn_with_state(HttpRateLimiter::new(1), paced));
    let desk = PortHarness::open(router, HttpLimits::default()).await;
    let (mut client, _connection) = http2_client(desk.connect().await).await;
    assert_eq!(client.send_request(request("/")).await.unwrap().status(), 200);
    let other = loop {
        let answer = http1_client(desk.connect().await).await.send_request(request("/")).await.unwrap();
        if answer.status() != 200 {
            break answer;
        }
    };
    assert_eq!((other.status().as_u16(), &other.headers()[header::RETRY_AFTER]), (429, &"1".parse().unwrap()));
    let problem = r#"{"type":"urn:rialto:problem:too-many-requests","title":"Too Many Requests","status":429,"detail":"more than 1 requests in a second; this one had no effect","code":"too-many-requests"}"#;
    assert_eq!(text_of(other).await, problem);
}
