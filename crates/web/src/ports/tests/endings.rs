use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::upgrade;
use hyper_util::rt::TokioIo;
use rustls::version::TLS13;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::harness::{GET_AND_CLOSE, PortHarness, hello_router, http1_client, http2_client, request, text_of};
use crate::ports::upgrade_socket::UpgradeSocket;
use crate::settings::HttpLimits;

/// A response that is released by the test, and signals when it was requested.
fn waiting() -> (Router, Arc<Notify>, Arc<Notify>) {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let notes = (begun.clone(), go.clone());
    let answer = || async move {
        notes.0.notify_one();
        notes.1.notified().await;
        "done"
    };
    (Router::new().route("/", get(answer)), begun, go)
}

#[tokio::test]
async fn a_request_that_has_begun_is_finished_in_http2_too() {
    let (router, begun, go) = waiting();
    let mut desk = PortHarness::open(router, HttpLimits::default()).await;
    let stream = desk.tls_connect(&["h2"], &[&TLS13]).await.unwrap();
    let (mut client, left) = http2_client(stream).await;
    let asked = tokio::spawn(client.send_request(request("/")));
    begun.notified().await;
    drop(desk.stop.take());
    go.notify_one();
    assert_eq!(text_of(asked.await.unwrap().unwrap()).await, "done");
    left.await.unwrap().unwrap();
    desk.served.await.unwrap();
    assert!(TcpStream::connect(desk.http).await.is_err(), "no new connection is accepted");
}

#[tokio::test]
async fn connections_on_which_nothing_has_begun_are_not_waited_for() {
    let desk =
        PortHarness::open(hello_router(), HttpLimits { shutdown_grace: Duration::MAX, ..HttpLimits::default() }).await;
    let silent = (desk.connect().await, TcpStream::connect(desk.https).await.unwrap());
    let (mut idle, _connection) = http2_client(desk.connect().await).await;
    assert_eq!(text_of(idle.send_request(request("/")).await.unwrap()).await, "hello");
    desk.stop().await;
    drop((silent, idle));
}

#[tokio::test]
async fn a_request_that_takes_longer_than_the_grace_is_cut() {
    let (router, begun, _go) = waiting();
    let mut desk =
        PortHarness::open(router, HttpLimits { shutdown_grace: Duration::from_millis(20), ..HttpLimits::default() })
            .await;
    let (mut client, _connection) = http2_client(desk.connect().await).await;
    let asked = tokio::spawn(client.send_request(request("/")));
    begun.notified().await;
    drop(desk.stop.take());
    desk.served.await.unwrap();
    assert!(asked.await.unwrap().is_err());
}

/// Upgrades the connection to an echo service, as a WebSocket would.
async fn echo(request: Request) -> Response {
    tokio::spawn(async move {
        let mut stream = TokioIo::new(upgrade::on(request).await.unwrap());
        let mut said = [0; 64];
        while let Ok(length @ 1..) = stream.read(&mut said).await {
            stream.write_all(&said[..length]).await.unwrap();
        }
    });
    (StatusCode::SWITCHING_PROTOCOLS, [(header::CONNECTION, "upgrade"), (header::UPGRADE, "echo")]).into_response()
}

#[tokio::test]
async fn a_connection_that_becomes_something_else_gives_its_place_back() {
    let router = Router::new().route("/echo", get(echo)).merge(hello_router());
    let desk = PortHarness::open(router, HttpLimits { connections: 1, ..HttpLimits::default() }).await;
    let stream = desk.tls_connect(&["http/1.1"], &[&TLS13]).await.unwrap();
    let mut client = http1_client(stream).await;
    let mut asked = request("/echo");
    asked.headers_mut().insert(header::CONNECTION, "upgrade".parse().unwrap());
    asked.headers_mut().insert(header::UPGRADE, "echo".parse().unwrap());
    let response = client.send_request(asked).await.unwrap();
    assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
    let mut stream = TokioIo::new(upgrade::on(response).await.unwrap());
    stream.write_all(b"news?").await.unwrap();
    let mut said = [0; 5];
    stream.read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"news?");
    assert!(desk.exchange(GET_AND_CLOSE).await.starts_with("HTTP/1.1 200 "), "while the other goes on");
    stream.write_all(b"more?").await.unwrap();
    stream.read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"more?");
}

#[tokio::test]
async fn a_wish_to_become_something_else_that_is_refused_gives_nothing_back() {
    let router = Router::new().route("/", get(|| async { StatusCode::FORBIDDEN }));
    let desk = PortHarness::open(router, HttpLimits { connections: 1, ..HttpLimits::default() }).await;
    let mut client = http1_client(desk.connect().await).await;
    let mut asked = request("/");
    asked.headers_mut().insert(header::CONNECTION, "upgrade".parse().unwrap());
    asked.headers_mut().insert(header::UPGRADE, "echo".parse().unwrap());
    assert_eq!(client.send_request(asked).await.unwrap().status(), StatusCode::FORBIDDEN);
    assert!(desk.exchange(GET_AND_CLOSE).await.starts_with("HTTP/1.1 503 "));
    drop(client);
}

/// The ports of sockets with options set.
static TREATED: Mutex<Vec<u16>> = Mutex::new(vec![]);

fn treat(socket: &TcpStream) {
    TREATED.lock().unwrap().push(socket.local_addr().unwrap().port());
}

/// Upgrades on request, and sets socket options.
async fn particular(request: Request) -> Response {
    match request.extensions().get::<UpgradeSocket>() {
        Some(socket) => {
            socket.configure_with(treat);
            echo(request).await
        }
        None => "as it is".into_response(),
    }
}

#[tokio::test]
async fn the_socket_of_a_connection_that_becomes_something_else_is_treated_as_that_wishes() {
    let desk = PortHarness::open(Router::new().route("/", get(particular)), HttpLimits::default()).await;
    assert!(desk.exchange(GET_AND_CLOSE).await.ends_with("\r\n\r\nas it is"));
    assert!(TREATED.lock().unwrap().is_empty());
    let asked = || {
        let mut asked = request("/");
        asked.headers_mut().insert(header::CONNECTION, "upgrade".parse().unwrap());
        asked.headers_mut().insert(header::UPGRADE, "echo".parse().unwrap());
        asked
    };
    let plain = http1_client(desk.connect().await).await.send_request(asked()).await.unwrap();
    let secure = desk.tls_connect(&["http/1.1"], &[&TLS13]).await.unwrap();
    let secure = http1_client(secure).await.send_request(asked()).await.unwrap();
    assert_eq!([plain.status(), secure.status()], [StatusCode::SWITCHING_PROTOCOLS; 2]);
    assert_eq!(*TREATED.lock().unwrap(), [desk.http.port(), desk.https.port()]);
}

#[tokio::test]
async fn a_body_without_a_length_is_chunked_in_http1() {
    let body = || async { Body::from_stream(futures_util::stream::iter([Ok::<_, std::io::Error>("hello")])) };
    let desk = PortHarness::open(Router::new().route("/", get(body)), HttpLimits::default()).await;
    let answer = desk.exchange(GET_AND_CLOSE).await;
    assert!(
        answer.contains("transfer-encoding: chunked\r\n") && answer.ends_with("5\r\nhello\r\n0\r\n\r\n"),
        "{answer}"
    );
}
