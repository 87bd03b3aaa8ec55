//! The WebSocket client against venues that speak, fall silent, cut and exaggerate.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use adapter_kit::connection::{SocketError, SocketLimits, SocketMessage, VenueSocket};
use futures_util::{SinkExt, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::loopback::{AMPLE, SHORT, certificate, dialer, dialer_to, hang, read_head, serve, url};

type ServerSocket = WebSocketStream<TcpStream>;

fn patient() -> SocketLimits {
    SocketLimits {
        message_bytes_max: 1_000,
        handshake_timeout: AMPLE,
        ping_interval: AMPLE,
        silence_timeout: AMPLE,
        send_timeout: AMPLE,
    }
}

/// A venue that runs the script after the handshake.
async fn venue<F, R>(script: F) -> SocketAddr
where
    F: Fn(ServerSocket) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    serve(move |stream, _| {
        let script = script.clone();
        async move {
            let socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            script(socket).await;
        }
    })
    .await
}

async fn connect(address: SocketAddr, limits: SocketLimits) -> Result<VenueSocket, SocketError> {
    VenueSocket::connect(&url("ws", "127.0.0.1", address), &[], &dialer(), limits, None).await
}

async fn first_failure(address: SocketAddr, limits: SocketLimits) -> String {
    let mut socket = connect(address, limits).await.unwrap();
    loop {
        if let Err(error) = socket.receive().await {
            return error.to_string();
        }
    }
}

fn text(text: &str) -> SocketMessage {
    SocketMessage::Text(text.to_owned())
}

#[tokio::test]
async fn messages_pass_in_both_directions_and_the_end_has_its_code() {
    let address = venue(|mut socket| async move {
        while let Some(Ok(Message::Text(received))) = socket.next().await {
            if received == "bye" {
                let frame = CloseFrame { code: 4_001.into(), reason: "maintenance".into() };
                socket.send(Message::Close(Some(frame))).await.unwrap();
                return;
            }
            socket.send(Message::text(format!("you said {received}"))).await.unwrap();
            socket.send(Message::binary(vec![1, 2, 3])).await.unwrap();
        }
    })
    .await;
    let mut socket = connect(address, patient()).await.unwrap();
    socket.send("hello").await.unwrap();
    assert_eq!(socket.receive().await.unwrap(), text("you said hello"));
    assert_eq!(socket.receive().await.unwrap(), SocketMessage::Binary(vec![1, 2, 3]));
    socket.send("bye").await.unwrap();
    let ended = socket.receive().await.unwrap_err();
    assert_eq!(ended.to_string(), "the venue closed the connection: 4001 maintenance");
}

#[tokio::test]
async fn headers_and_path_of_the_handshake_are_ours() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let address = serve(move |mut stream, _| {
        let seen = Arc::clone(&seen);
        async move {
            let head = read_head(&mut stream).await.unwrap();
            seen.lock().unwrap().push(head);
            stream
                .write_all(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 11\r\ncontent-length: 0\r\n\r\n")
                .await
                .unwrap();
        }
    })
    .await;
    let target = format!("ws://127.0.0.1:{}/ws-api/v3?x=1", address.port()).parse().unwrap();
    let headers = [("X-Key".to_owned(), "k1".to_owned())];
    let refused = VenueSocket::connect(&target, &headers, &dialer(), patient(), None).await.unwrap_err();
    let SocketError::Refused { status, retry_after } = refused else { panic!("{refused}") };
    assert_eq!((status, retry_after.as_deref()), (429, Some("11")));
    let head = heads.lock().unwrap()[0].to_lowercase();
    assert!(head.starts_with("get /ws-api/v3?x=1 http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("\r\nhost: 127.0.0.1:{}\r\n", address.port())), "{head}");
    assert!(head.contains("\r\nx-key: k1\r\n"), "{head}");
}

#[tokio::test]
async fn a_ping_of_the_venue_is_answered() {
    let address = venue(|mut socket| async move {
        socket.send(Message::Ping("are you there".into())).await.unwrap();
        let answered = socket.next().await.unwrap().unwrap();
        socket.send(Message::text(format!("{}", answered.into_text().unwrap()))).await.unwrap();
    })
    .await;
    let mut socket = connect(address, patient()).await.unwrap();
    assert_eq!(socket.receive().await.unwrap(), text("are you there"));
}

#[tokio::test]
async fn we_ask_a_quiet_venue_for_a_sign_of_life() {
    let address = venue(|mut socket| async move {
        let asked = socket.next().await.unwrap().unwrap();
        assert!(asked.is_ping());
        socket.send(Message::text("alive")).await.unwrap();
    })
    .await;
    let mut socket = connect(address, SocketLimits { ping_interval: SHORT, ..patient() }).await.unwrap();
    assert_eq!(socket.receive().await.unwrap(), text("alive"));
}

#[tokio::test]
async fn a_venue_that_answers_no_ping_is_lost() {
    let address = venue(|socket| async move { hang(socket.into_inner()).await }).await;
    let limits = SocketLimits { ping_interval: SHORT / 4, silence_timeout: SHORT, ..patient() };
    assert_eq!(first_failure(address, limits).await, "the venue was silent for too long");
}

#[tokio::test]
async fn a_cut_is_no_close() {
    let address = venue(|mut socket| async move {
        socket.send(Message::text("one")).await.unwrap();
    })
    .await;
    let failed = first_failure(address, patient()).await;
    assert!(failed.starts_with("the connection broke: "), "{failed}");
}

#[tokio::test]
async fn messages_have_a_largest_size_whole_announced_or_in_parts() {
    let whole = venue(|mut socket| async move {
        let _ = socket.send(Message::text("x".repeat(1_001))).await;
        hang(socket.into_inner()).await;
    })
    .await;
    assert_eq!(first_failure(whole, patient()).await, "a message is longer than 1000 bytes");

    let announced = venue(|mut socket| async move {
        // A frame of a terabyte, of which only the head comes.
        let head = [0x82, 127, 0, 0, 1, 0, 0, 0, 0, 0];
        socket.get_mut().write_all(&head).await.unwrap();
        hang(socket.into_inner()).await;
    })
    .await;
    assert_eq!(first_failure(announced, patient()).await, "a message is longer than 1000 bytes");

    let in_parts = venue(|mut socket| async move {
        let stream = socket.get_mut();
        stream.write_all(&[0x01, 100]).await.unwrap();
        stream.write_all(&[b'x'; 100]).await.unwrap();
        while stream.write_all(&[0x00, 100]).await.is_ok() && stream.write_all(&[b'x'; 100]).await.is_ok() {}
    })
    .await;
    assert_eq!(first_failure(in_parts, patient()).await, "a message is longer than 1000 bytes");
}

#[tokio::test]
async fn a_venue_that_does_not_read_is_not_waited_for() {
    let address = venue(|socket| async move { hang(socket.into_inner()).await }).await;
    let limits = SocketLimits { send_timeout: SHORT, ..patient() };
    let mut socket = connect(address, limits).await.unwrap();
    let failed = loop {
        if let Err(error) = socket.send("x".repeat(100_000)).await {
            break error;
        }
    };
    assert_eq!(failed.to_string(), "the venue did not read a message in time");
}

#[tokio::test]
async fn a_handshake_without_an_answer_ends() {
    let address = serve(|stream, _| hang(stream)).await;
    let limits = SocketLimits { handshake_timeout: SHORT, ..patient() };
    let failed = connect(address, limits).await.unwrap_err().to_string();
    assert_eq!(failed, "the venue did not answer the WebSocket handshake in time");
}

#[tokio::test]
async fn a_close_of_ours_reaches_the_venue() {
    let (done, closed) = tokio::sync::oneshot::channel();
    let done = Arc::new(Mutex::new(Some(done)));
    let address = venue(move |mut socket| {
        let done = Arc::clone(&done);
        async move {
            let last = socket.next().await.unwrap().unwrap();
            let _ = socket.next().await;
            done.lock().unwrap().take().unwrap().send(last.is_close()).unwrap();
        }
    })
    .await;
    connect(address, patient()).await.unwrap().close().await;
    assert!(closed.await.unwrap());
}

#[tokio::test]
async fn websockets_run_over_tls() {
    let (pem, acceptor) = certificate();
    let address = serve(move |stream, _| {
        let acceptor = acceptor.clone();
        async move {
            let stream = acceptor.accept(stream).await.unwrap();
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            socket.send(Message::text("secret")).await.unwrap();
            let _ = socket.next().await;
        }
    })
    .await;
    let target = url("wss", "localhost", address);
    let mut socket = VenueSocket::connect(&target, &[], &dialer_to(&pem, None, AMPLE), patient(), None).await.unwrap();
    assert_eq!(socket.receive().await.unwrap(), text("secret"));
}
