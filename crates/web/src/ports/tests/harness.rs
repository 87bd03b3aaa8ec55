//! A server on two ports of its own, and clients for it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use http_body_util::BodyExt;
use hyper::client::conn::{http1, http2};
use hyper::rt::{Read, Write};
use hyper_util::rt::{TokioExecutor, TokioIo};
use net::PermitHandle;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion, crypto};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::ports::protocol_detect::ALPN_PROTOCOLS;
use crate::ports::{HttpPort, serve};
use crate::settings::HttpLimits;

/// Responds `hello`, with the client's text.
pub(super) fn hello_router() -> Router {
    Router::new().route("/", get(|| async { "hello" }).post(|said: String| async move { format!("hello {said}") }))
}

/// As the authorization does: a connection with a request counts as authenticated.
async fn mark_authenticated(request: Request, next: Next) -> Response {
    request.extensions().get::<PermitHandle>().unwrap().mark_authenticated();
    next.run(request).await
}

pub(super) struct PortHarness {
    pub(super) http: SocketAddr,
    pub(super) https: SocketAddr,
    roots: RootCertStore,
    pub(super) stop: Option<oneshot::Sender<()>>,
    pub(super) served: JoinHandle<()>,
}

impl PortHarness {
    pub(super) async fn open(router: Router, limits: HttpLimits) -> Self {
        let (http, https) = (listener().await, listener().await);
        let addresses = [&http, &https].map(|listener| listener.local_addr().unwrap());
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let pair = CertifiedKey::from_der(vec![certificate], key, &crypto::ring::default_provider()).unwrap();
        let tls = net::server_config(Arc::new(SingleCertAndKey::from(pair)), &ALPN_PROTOCOLS).unwrap();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            let ports =
                (Some(HttpPort { listener: http, tls: None }), Some(HttpPort { listener: https, tls: Some(tls) }));
            serve(ports, router.layer(from_fn(mark_authenticated)), &limits, async { drop(stopped.await) }).await;
        });
        Self { http: addresses[0], https: addresses[1], roots, stop: Some(stop), served }
    }

    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.http).await.unwrap()
    }

    /// A handshake in which the client offers these protocols.
    pub(super) async fn tls_connect(
        &self,
        offered: &[&str],
        versions: &[&'static SupportedProtocolVersion],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
        let mut config = config.with_root_certificates(self.roots.clone()).with_no_client_auth();
        config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(self.https).await?;
        TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
    }

    /// One request in plain text, and everything that comes back until the end.
    pub(super) async fn exchange(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        read_to_end(stream).await
    }

    /// Retries until the server has a free permit.
    pub(super) async fn wait_until_served(&self) {
        while !self.exchange(GET_AND_CLOSE).await.starts_with("HTTP/1.1 200 OK") {
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn stop(mut self) {
        drop(self.stop.take());
        self.served.await.unwrap();
    }
}

pub(super) const GET_AND_CLOSE: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// The remaining bytes; a connection that is cut just ends.
pub(super) async fn read_to_end(mut stream: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut answer = vec![];
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

/// An HTTP/2 client; the task ends with the connection.
pub(super) async fn http2_client<S>(stream: S) -> (http2::SendRequest<Body>, JoinHandle<hyper::Result<()>>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    (sender, tokio::spawn(connection))
}

pub(super) async fn http1_client<S>(stream: S) -> http1::SendRequest<Body>
where
    TokioIo<S>: Read + Write + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    sender
}

pub(super) fn request(path: &str) -> Request {
    Request::builder().uri(format!("http://localhost{path}")).header("host", "localhost").body(Body::empty()).unwrap()
}

pub(super) async fn text_of(response: Response<impl hyper::body::Body<Error: std::fmt::Debug>>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}
