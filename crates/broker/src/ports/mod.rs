//! Ports: TCP (TLS is detected by the first byte), TLS only, WebSocket.

pub(crate) mod allowed_hosts;
pub(crate) mod upgrade;
pub(crate) mod transport;
pub(crate) mod stream;
pub(crate) mod websocket;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use net::{ConnectionLimitReached, ConnectionPermit, SocketOptions};
use rustls::ServerConfig;
use stomp::lanes::OutboundLanes;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::connection::{ConnectionOrigin, PresentedCredentials, StompConnection};
use crate::limits::{LOCAL_BYTES, SEND_BUFFER_BYTES, UNSENT_BYTES_MAX};
use crate::ports::stream::{ByteStream, StompCaller};
use crate::ports::upgrade::{UpgradeOrigin, UpgradePermit};
use crate::state::BrokerState;

/// First byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// Protocol of a port.
#[derive(Clone)]
pub(crate) enum StompPort {
    /// Plain, or TLS by the first byte where there is a certificate.
    Tcp(Option<Arc<ServerConfig>>),
    Tls(Arc<ServerConfig>),
    WebSocket(Router),
}

/// Accepts until it is dropped.
pub(crate) async fn serve(broker: Arc<BrokerState>, listener: TcpListener, port: StompPort) {
    loop {
        let (stream, from) = net::accept(&listener).await;
        accept(&broker, stream, from.ip(), &port);
    }
}

/// As [`serve`], for connections that come from a queue.
pub(crate) async fn serve_streams(broker: Arc<BrokerState>, mut streams: mpsc::Receiver<StompCaller>) {
    while let Some((stream, from)) = streams.recv().await {
        let Some(place) = acquire(&broker, from) else { continue };
        let (broker, peer) = (broker.clone(), Ok(SocketAddr::new(from, 0)));
        spawn(place, |place| async move { drop(serve_stream(broker, &peer, stream, place).await) });
    }
}

fn accept(broker: &Arc<BrokerState>, stream: TcpStream, from: IpAddr, port: &StompPort) {
    let Some(place) = acquire(broker, from) else { return };
    spawn(place, |place| serve_connection(broker.clone(), stream, port.clone(), place));
}

fn acquire(broker: &BrokerState, from: IpAddr) -> Option<ConnectionPermit> {
    match broker.connection_limiter.acquire(Some(from)) {
        Ok(place) => return Some(place),
        Err(ConnectionLimitReached::Connections) => {
            tracing::warn!(%from, "connection limit reached: connection rejected");
        }
        Err(ConnectionLimitReached::Address) => {
            tracing::debug!(%from, "connection limit per address reached: connection rejected");
        }
    }
    None
}

/// A connection in the background, which ends where its place is needed.
fn spawn<F: Future<Output = ()> + Send + 'static>(place: ConnectionPermit, serve: impl FnOnce(ConnectionPermit) -> F) {
    let handle = place.handle();
    let task = tokio::spawn(serve(place)).abort_handle();
    handle.or_on_eviction(move || task.abort());
}

/// Small send buffers, because a price in the kernel's buffer can no longer be conflated, and by default the kernel buffers
/// megabytes for a client that does not read. A failure costs only speed, and older prices for a slow reader.
pub fn configure_socket(stream: &TcpStream) {
    let options = SocketOptions {
        send_buffer_bytes: Some(SEND_BUFFER_BYTES),
        unsent_bytes_max: Some(UNSENT_BYTES_MAX),
        keepalive: None,
    };
    let _ = options.apply(stream);
}

/// State of TLS and upgrades is boxed, so that a plain connection uses little memory.
async fn serve_connection(broker: Arc<BrokerState>, stream: TcpStream, port: StompPort, place: ConnectionPermit) {
    configure_socket(&stream);
    let served = match port {
        StompPort::Tcp(None) => serve_stream(broker, &stream.peer_addr(), stream, place).await,
        StompPort::Tcp(Some(tls)) => detect_tls(broker, stream, tls, place).await,
        StompPort::Tls(tls) => Box::pin(serve_tls(broker, stream, tls, place)).await,
        StompPort::WebSocket(router) => Box::pin(serve_upgrade(&broker, stream, router, place)).await,
    };
    if let Err(error) = served {
        tracing::debug!(%error, "connection closed during handshake");
    }
}

async fn detect_tls(
    broker: Arc<BrokerState>,
    stream: TcpStream,
    tls: Arc<ServerConfig>,
    place: ConnectionPermit,
) -> io::Result<()> {
    let mut first = [0];
    // The session's own time-out for CONNECT begins with the first byte.
    let read = timeout(broker.limits.connect_wait, stream.peek(&mut first)).await??;
    if read == 1 && first[0] == TLS_HANDSHAKE {
        return Box::pin(serve_tls(broker, stream, tls, place)).await;
    }
    serve_stream(broker, &stream.peer_addr(), stream, place).await
}

async fn serve_tls(
    broker: Arc<BrokerState>,
    stream: TcpStream,
    tls: Arc<ServerConfig>,
    place: ConnectionPermit,
) -> io::Result<()> {
    let peer = stream.peer_addr();
    let stream = timeout(broker.limits.handshake_wait, TlsAcceptor::from(tls).accept(stream)).await??;
    serve_stream(broker, &peer, stream, place).await
}

async fn serve_stream<S>(
    broker: Arc<BrokerState>,
    peer: &io::Result<SocketAddr>,
    stream: S,
    place: ConnectionPermit,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let peer = peer.as_ref().ok().map(|peer| peer.ip().to_canonical());
    let origin = ConnectionOrigin { peer, credentials: PresentedCredentials::Absent };
    StompConnection::new(broker, ByteStream::new(stream), origin, OutboundLanes::unthrottled())
        .with_permit(place)
        .run()
        .await;
    Ok(())
}

/// A connection from inside this process, served in the background.
pub(crate) fn serve_internal(broker: Arc<BrokerState>) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(LOCAL_BYTES);
    let origin = ConnectionOrigin { peer: None, credentials: PresentedCredentials::Internal };
    tokio::spawn(StompConnection::new(broker, ByteStream::new(ours), origin, OutboundLanes::unthrottled()).run());
    theirs
}

async fn serve_upgrade(
    broker: &BrokerState,
    stream: TcpStream,
    router: Router,
    permit: ConnectionPermit,
) -> io::Result<()> {
    let permit = UpgradePermit::new(permit);
    let reached = UpgradeOrigin { local: stream.local_addr()?, peer: stream.peer_addr()?, secure: false };
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(reached);
        request.extensions_mut().insert(permit.clone());
        let router = router.clone();
        async move {
            Ok::<_, Infallible>(router.oneshot(request.map(Body::new)).await.unwrap_or_else(|never| match never {}))
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(broker.limits.upgrade_wait)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await
        .map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_task<A, F: Future>(_: impl Fn(A) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_plain_connection_does_not_pay_for_what_it_does_not_use() {
        let plain = size_of_task(|(broker, stream, port, place)| serve_connection(broker, stream, port, place));
        assert!(plain <= 4 * 1_024, "{plain} octets");
    }
}
