use axum::http::Version;
use rustls::version::{TLS12, TLS13};
use tokio::io::AsyncWriteExt;

use super::harness::{
    GET_AND_CLOSE, PortHarness, hello_router, http1_client, http2_client, read_to_end, request, text_of,
};
use crate::settings::HttpLimits;

#[tokio::test]
async fn a_client_that_speaks_both_speaks_http2_over_tls() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    for version in [&TLS12, &TLS13] {
        let stream = desk.tls_connect(&["h2", "http/1.1"], &[version]).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (mut client, _) = http2_client(stream).await;
        let response = client.send_request(request("/")).await.unwrap();
        assert_eq!(response.version(), Version::HTTP_2);
        assert_eq!(text_of(response).await, "hello");
    }
}

#[tokio::test]
async fn a_client_that_speaks_http1_or_says_nothing_gets_http1() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    for offered in [&["http/1.1"][..], &[]] {
        let stream = desk.tls_connect(offered, &[&TLS12, &TLS13]).await.unwrap();
        let mut client = http1_client(stream).await;
        for _ in 0..2 {
            client.ready().await.unwrap();
            let response = client.send_request(request("/")).await.unwrap();
            assert_eq!(response.version(), Version::HTTP_11);
            assert_eq!(text_of(response).await, "hello");
        }
    }
}

#[tokio::test]
async fn a_client_that_speaks_neither_is_rejected_in_the_handshake() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    let refused = desk.tls_connect(&["stomp"], &[&TLS13]).await.unwrap_err();
    assert!(refused.to_string().contains("NoApplicationProtocol"), "{refused}");
}

#[tokio::test]
async fn plain_text_at_the_tls_port_ends_that_connection_only() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    let mut plain = tokio::net::TcpStream::connect(desk.https).await.unwrap();
    plain.write_all(GET_AND_CLOSE.as_bytes()).await.unwrap();
    let mut answer = vec![];
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut plain, &mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "an alert at most: {answer:?}");
    assert!(desk.tls_connect(&["h2"], &[&TLS13]).await.is_ok());
}

#[tokio::test]
async fn http2_without_tls_is_spoken_to_clients_that_begin_with_it() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    let (mut client, _) = http2_client(desk.connect().await).await;
    let response = client.send_request(request("/")).await.unwrap();
    assert_eq!((response.version(), text_of(response).await), (Version::HTTP_2, "hello".to_owned()));
}

#[tokio::test]
async fn one_http2_connection_carries_many_requests_at_a_time() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    let (client, _) = http2_client(desk.connect().await).await;
    let asked: Vec<_> = (0..300).map(|_| client.clone().send_request(request("/"))).collect();
    for response in asked {
        assert_eq!(text_of(response.await.unwrap()).await, "hello");
    }
}

#[tokio::test]
async fn a_request_that_comes_byte_by_byte_is_read_whole() {
    let desk = PortHarness::open(hello_router(), HttpLimits::default()).await;
    let mut slow = desk.connect().await;
    slow.set_nodelay(true).unwrap();
    for byte in "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\n\r\ndesk".bytes() {
        slow.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let answer = read_to_end(slow).await;
    assert!(answer.ends_with("\r\n\r\nhello desk"), "{answer}");
}
