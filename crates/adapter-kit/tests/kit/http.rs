//! The HTTP client against servers that answer, hang, cut and exaggerate.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use adapter_kit::connection::{Dialer, ProxyServer, RequestFailure, VenueHttp, VenueHttpLimits, VenueRequest};
use adapters::SendLease;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::loopback::{AMPLE, SHORT, answer, certificate, dialer, dialer_to, hang, proxy, read_head, serve, url};

fn limits() -> VenueHttpLimits {
    VenueHttpLimits { answer_timeout: AMPLE, body_bytes_max: 1_000, idle_timeout: AMPLE, ..VenueHttpLimits::default() }
}

fn get(path: &str) -> VenueRequest {
    let headers = vec![("X-Key".to_owned(), "k1".to_owned())];
    VenueRequest { method: "GET", path: path.to_owned(), headers, body: String::new() }
}

fn client(address: SocketAddr) -> VenueHttp {
    VenueHttp::new(url("http", "127.0.0.1", address), dialer(), limits())
}

async fn fetch(http: &VenueHttp, path: &str) -> Result<String, String> {
    let answered = http.send(&get(path)).await;
    answered.map(|response| format!("{} {}", response.status, response.text())).map_err(|failure| failure.to_string())
}

fn first_line(head: &str) -> String {
    head.lines().next().unwrap().to_owned()
}

/// A server that answers every request of a connection with its own first line.
async fn echo(mut stream: TcpStream, number: usize) {
    while let Some(head) = read_head(&mut stream).await {
        let text = format!("{} on {number}", first_line(&head));
        stream.write_all(answer(&text).as_bytes()).await.unwrap();
    }
}

#[tokio::test]
async fn a_request_is_not_written_where_the_lease_ran_out_while_a_connection_was_made() {
    let heard = Arc::new(AtomicUsize::new(0));
    let requests = Arc::clone(&heard);
    let address = serve(move |mut stream, _| {
        let requests = Arc::clone(&requests);
        async move {
            while read_head(&mut stream).await.is_some() {
                requests.fetch_add(1, Ordering::SeqCst);
                stream.write_all(answer("taken").as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    let http = client(address);
    let ran_out = SendLease::new(|| false);
    let outcome = http.send_while(Some(&ran_out), &get("/order")).await;
    let reason = "the lease of this server has run out, another one may lead".to_owned();
    assert_eq!(outcome.unwrap_err(), RequestFailure::NotSent(reason));
    let held = SendLease::new(|| true);
    assert_eq!(http.send_while(Some(&held), &get("/order")).await.unwrap().text(), "taken");
    assert_eq!(heard.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_request_leaves_as_it_was_made_and_a_connection_is_used_again() {
    let address = serve(|mut stream, number| async move {
        while let Some(head) = read_head(&mut stream).await {
            let body = format!("{number} {head}");
            let reply =
                format!("HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(reply.as_bytes()).await.unwrap();
        }
    })
    .await;
    let http = client(address);
    for path in ["/api/v3/time?a=%20b", "/again"] {
        let response = http.send(&get(path)).await.unwrap();
        assert_eq!((response.status, response.header("retry-after")), (429, Some("7")));
        let expected = format!("0 GET {path} HTTP/1.1\r\nhost: {address}\r\nx-key: k1\r\n\r\n");
        assert_eq!(response.text(), expected);
    }
}

#[tokio::test]
async fn a_connection_that_the_venue_closed_is_replaced_and_no_request_is_sent_twice() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let address = serve(move |mut stream, number| {
        let counted = Arc::clone(&counted);
        async move {
            read_head(&mut stream).await.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            let reply = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\n{number}");
            stream.write_all(reply.as_bytes()).await.unwrap();
        }
    })
    .await;
    let http = client(address);
    for number in 0..5 {
        assert_eq!(fetch(&http, "/").await, Ok(format!("200 {number}")));
    }
    assert_eq!(count.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn without_a_connection_nothing_was_sent() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = fetch(&client(closed), "/").await.unwrap_err();
    assert!(refused.starts_with("not sent: no connection: "), "{refused}");

    let address = serve(|stream, _| hang(stream)).await;
    let http = VenueHttp::new(url("https", "localhost", address), dialer_to(&certificate().0, None, SHORT), limits());
    assert_eq!(fetch(&http, "/").await, Err("not sent: no connection within 0.2 s".to_owned()));
}

#[tokio::test]
async fn a_malformed_request_is_not_sent_and_its_headers_are_not_repeated() {
    let address = serve(echo).await;
    let request = VenueRequest { headers: vec![("X-Key".to_owned(), "planted\nsecret".to_owned())], ..get("/") };
    let failed = client(address).send(&request).await;
    assert_eq!(failed, Err(RequestFailure::NotSent("method, path or a header is malformed".to_owned())));
}

#[tokio::test]
async fn after_the_sending_every_failure_leaves_the_outcome_unknown() {
    let cut = serve(|mut stream, _| async move { drop(read_head(&mut stream).await) }).await;
    let failed = fetch(&client(cut), "/").await.unwrap_err();
    assert!(failed.starts_with("outcome unknown: "), "{failed}");

    let cut_in_answer = serve(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this").await.unwrap();
    })
    .await;
    let failed = fetch(&client(cut_in_answer), "/").await.unwrap_err();
    assert!(failed.starts_with("outcome unknown: the answer broke off: "), "{failed}");

    let garbage = serve(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        stream.write_all(b"SSH-2.0-OpenSSH\r\n\r\n").await.unwrap();
    })
    .await;
    let failed = fetch(&client(garbage), "/").await.unwrap_err();
    assert!(failed.starts_with("outcome unknown: "), "{failed}");
}

#[tokio::test]
async fn a_slow_answer_is_not_waited_for_and_its_connection_is_not_used_again() {
    let address = serve(|mut stream, number| async move {
        read_head(&mut stream).await.unwrap();
        match number {
            0 => hang(stream).await,
            1 => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nand then").await.unwrap();
                hang(stream).await;
            }
            _ => stream.write_all(answer("at last").as_bytes()).await.unwrap(),
        }
    })
    .await;
    let impatient = VenueHttpLimits { answer_timeout: SHORT, ..limits() };
    let http = VenueHttp::new(url("http", "127.0.0.1", address), dialer(), impatient);
    for _ in 0..2 {
        assert_eq!(fetch(&http, "/").await, Err("outcome unknown: no answer within 0.2 s".to_owned()));
    }
    let http = client(address);
    assert_eq!(fetch(&http, "/").await, Ok("200 at last".to_owned()));
}

#[tokio::test]
async fn an_answer_has_a_largest_size() {
    let body = serve(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        stream.write_all(answer(&"x".repeat(1_001)).as_bytes()).await.unwrap();
        hang(stream).await;
    })
    .await;
    let failed = fetch(&client(body), "/").await;
    assert_eq!(failed, Err("outcome unknown: the answer (200 OK) is longer than 1000 bytes".to_owned()));

    let endless = serve(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
        while stream.write_all(b"10\r\n0123456789abcdef\r\n").await.is_ok() {}
    })
    .await;
    let failed = fetch(&client(endless), "/").await;
    assert_eq!(failed, Err("outcome unknown: the answer (200 OK) is longer than 1000 bytes".to_owned()));

    let header = serve(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(format!("x: {}\r\n", "y".repeat(1_000)).as_bytes()).await.is_ok() {}
    })
    .await;
    let failed = fetch(&client(header), "/").await.unwrap_err();
    assert!(failed.starts_with("outcome unknown: "), "{failed}");
}

/// An HTTPS server that answers with the first line of each request.
async fn tls_venue() -> (String, SocketAddr) {
    let (pem, acceptor) = certificate();
    let address = serve(move |stream, _| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            while let Some(head) = read_head(&mut stream).await {
                stream.write_all(answer(&first_line(&head)).as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    (pem, address)
}

fn secure(host: &str, address: SocketAddr, dialer: Dialer) -> VenueHttp {
    VenueHttp::new(url("https", host, address), dialer, limits())
}

#[tokio::test]
async fn tls_trusts_the_given_root_for_its_own_name_only() {
    let (pem, address) = tls_venue().await;
    let trusted = fetch(&secure("localhost", address, dialer_to(&pem, None, AMPLE)), "/x").await;
    assert_eq!(trusted, Ok("200 GET /x HTTP/1.1".to_owned()));

    let stranger = fetch(&secure("localhost", address, dialer()), "/x").await.unwrap_err();
    assert!(stranger.starts_with("not sent: TLS failed: invalid peer certificate"), "{stranger}");

    let other_name = fetch(&secure("127.0.0.1", address, dialer_to(&pem, None, AMPLE)), "/x").await.unwrap_err();
    assert!(other_name.starts_with("not sent: TLS failed: invalid peer certificate"), "{other_name}");

    let plain = serve(|mut stream, _| async move {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        hang(stream).await;
    })
    .await;
    let no_tls = fetch(&secure("localhost", plain, dialer_to(&pem, None, AMPLE)), "/x").await.unwrap_err();
    assert!(no_tls.starts_with("not sent: TLS failed: "), "{no_tls}");
}

#[tokio::test]
async fn a_proxy_tunnels_tls_and_gets_its_credentials() {
    let (pem, venue) = tls_venue().await;
    let expected = format!(
        "CONNECT localhost:{0} HTTP/1.1\r\nHost: localhost:{0}\r\nProxy-Authorization: Basic dTpw\r\n\r\n",
        venue.port()
    );
    let wants = move |head: &str| (head != expected).then_some("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    let address = proxy(wants).await;
    let through = |authorization: Option<&str>| {
        let authorization = authorization.map(Into::into);
        let server = ProxyServer { host: "127.0.0.1".to_owned(), port: address.port(), authorization };
        assert!(!format!("{server:?}").contains("u:p"));
        secure("localhost", venue, dialer_to(&pem, Some(server), AMPLE))
    };
    assert_eq!(fetch(&through(Some("u:p")), "/y").await, Ok("200 GET /y HTTP/1.1".to_owned()));
    let refused = "not sent: no connection through the proxy: it wants other credentials (407)";
    assert_eq!(fetch(&through(None), "/y").await, Err(refused.to_owned()));
}

#[tokio::test]
async fn a_proxy_that_refuses_cuts_or_babbles_is_named() {
    let venue = serve(echo).await;
    let failed = async |answer: &'static str| {
        let address = proxy(move |_| Some(answer)).await;
        let server = ProxyServer { host: "127.0.0.1".to_owned(), port: address.port(), authorization: None };
        let http =
            VenueHttp::new(url("http", "127.0.0.1", venue), dialer_to(&certificate().0, Some(server), AMPLE), limits());
        fetch(&http, "/").await.unwrap_err()
    };
    let reason = "not sent: no connection through the proxy: ";
    assert_eq!(
        failed("HTTP/1.1 502 Bad Gateway\r\n\r\n").await,
        format!("{reason}it answered `HTTP/1.1 502 Bad Gateway`")
    );
    assert!(failed("HTTP/1.1 2").await.starts_with(reason));
    assert_eq!(failed(long_header()).await, format!("{reason}its answer is too long"));
}

fn long_header() -> &'static str {
    Box::leak("x".repeat(9_000).into_boxed_str())
}
