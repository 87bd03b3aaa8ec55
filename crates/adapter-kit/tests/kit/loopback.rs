//! Small real servers on loopback: each connection runs one script of the test.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use adapter_kit::connection::{Dialer, ProxyServer, TlsRoots, VenueUrl, tls_config};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Longer than any test may take: a limit that is not meant to be reached.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);
/// A limit that is meant to be reached, by a server that never does what is waited for.
pub(crate) const SHORT: Duration = Duration::from_millis(200);

/// Runs the script for every connection, with the number of the connection.
pub(crate) async fn serve<F, R>(script: F) -> SocketAddr
where
    F: Fn(TcpStream, usize) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(script(stream, number));
        }
    });
    address
}

/// The head of an HTTP request; `None` at the end of the connection.
pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

pub(crate) fn answer(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Waits for ever; the connection stays open.
pub(crate) async fn hang(stream: TcpStream) {
    std::future::pending::<()>().await;
    drop(stream);
}

/// A certificate for `localhost`: its PEM, and what a server needs.
pub(crate) fn certificate() -> (String, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (made.cert.pem(), TlsAcceptor::from(Arc::new(config)))
}

pub(crate) fn dialer_to(pem: &str, proxy: Option<ProxyServer>, timeout: Duration) -> Dialer {
    Dialer::new(tls_config(&TlsRoots::Pem(pem.as_bytes().to_vec())).unwrap(), proxy, timeout)
}

pub(crate) fn dialer() -> Dialer {
    dialer_to(&certificate().0, None, AMPLE)
}

pub(crate) fn url(scheme: &str, host: &str, address: SocketAddr) -> VenueUrl {
    format!("{scheme}://{host}:{}", address.port()).parse().unwrap()
}

/// A proxy that tunnels to where CONNECT says, and gives the head of each request to `allows`.
pub(crate) async fn proxy(allows: impl Fn(&str) -> Option<&'static str> + Clone + Send + 'static) -> SocketAddr {
    let script = move |mut client: TcpStream, _| {
        let allows = allows.clone();
        async move {
            let head = read_head(&mut client).await.unwrap();
            if let Some(refusal) = allows(&head) {
                client.write_all(refusal.as_bytes()).await.unwrap();
                return;
            }
            let target = head.split(' ').nth(1).unwrap().replace("localhost", "127.0.0.1");
            let mut venue = TcpStream::connect(target).await.unwrap();
            client.write_all(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n").await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut client, &mut venue).await;
        }
    };
    serve(script).await
}
