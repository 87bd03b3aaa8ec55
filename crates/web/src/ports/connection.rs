//! One connection. `axum::serve` has no header time-out, so hyper is driven here.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use net::{ConnectionPermit, PermitHandle};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::ServiceExt;

use crate::middleware::caller::ConnectionInfo;
use crate::ports::http2_keepalive::Http2Activity;
use crate::ports::protocol_detect::{HttpVersion, detect_version, tls_handshake};
use crate::ports::upgrade_socket::{HasTcpStream, UpgradeSocket};
use crate::ports::write_timeout::WriteTimeoutStream;
use crate::settings::HttpLimits;

type ConnectionResult = Result<(), Box<dyn Error + Send + Sync>>;

pub(crate) struct HttpConnection {
    pub(crate) router: Router,
    pub(crate) limits: Arc<HttpLimits>,
    /// Changes for the last time when the server stops.
    pub(crate) closing: watch::Receiver<()>,
    /// Its place among all connections.
    pub(crate) permit: ConnectionPermit,
}

/// What each request of a connection carries.
#[derive(Clone)]
struct Met {
    reached: ConnectionInfo,
    seat: PermitHandle,
}

impl HttpConnection {
    /// Until it ends, or has to give way to others.
    pub(crate) async fn serve(self, stream: TcpStream, tls: Option<Arc<ServerConfig>>) {
        let mut eviction = self.permit.eviction();
        // Answers are small and awaited; a failure here costs only speed.
        let _ = stream.set_nodelay(true);
        let served = async {
            match tls {
                None => self.serve_plain(stream).await,
                Some(tls) => self.serve_secure(stream, tls).await,
            }
        };
        tokio::select! {
            ended = served => if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            },
            () = eviction.wait() => tracing::debug!("a connection gave way to another"),
        }
    }

    async fn serve_plain(mut self, mut stream: TcpStream) -> ConnectionResult {
        let reached = connection_info(&stream, false)?;
        let learnt = detect_version(&mut stream, self.limits.header_timeout);
        let Some(learnt) = unless_closing(&mut self.closing, learnt).await else { return Ok(()) };
        let (version, opening) = learnt?;
        self.serve_version(version, stream, opening, reached).await
    }

    async fn serve_secure(mut self, stream: TcpStream, tls: Arc<ServerConfig>) -> ConnectionResult {
        let reached = connection_info(&stream, true)?;
        let shaken = tls_handshake(stream, tls, self.limits.handshake_timeout);
        let Some(shaken) = unless_closing(&mut self.closing, shaken).await else { return Ok(()) };
        let (version, stream) = shaken?;
        self.serve_version(version, stream, vec![], reached).await
    }

    async fn serve_version<S>(
        self,
        version: HttpVersion,
        stream: S,
        opening: Vec<u8>,
        reached: ConnectionInfo,
    ) -> ConnectionResult
    where
        S: AsyncRead + AsyncWrite + HasTcpStream + Unpin + Send + 'static,
    {
        let Self { router, limits, closing, permit: place } = self;
        let met = Met { reached, seat: place.handle() };
        let stream = WriteTimeoutStream::new(stream, opening, place, limits.write_timeout);
        match version {
            HttpVersion::Http1 => serve_http1(stream, met, router, &limits, closing).await,
            HttpVersion::Http2 => serve_http2(stream, met, router, &limits, closing).await,
        }
    }
}

fn connection_info(stream: &TcpStream, secure: bool) -> io::Result<ConnectionInfo> {
    Ok(ConnectionInfo { local: stream.local_addr()?, peer: stream.peer_addr()?, secure })
}

/// A connection without a request is closed at once.
async fn unless_closing<T>(closing: &mut watch::Receiver<()>, opened: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        opened = opened => Some(opened),
        _ = closing.changed() => None,
    }
}

/// A request may turn the connection into a WebSocket; then the upgrade handler owns it.
async fn serve_http1<S>(
    mut stream: WriteTimeoutStream<S>,
    met: Met,
    router: Router,
    limits: &HttpLimits,
    mut closing: watch::Receiver<()>,
) -> ConnectionResult
where
    S: AsyncRead + AsyncWrite + HasTcpStream + Unpin + Send + 'static,
{
    let socket = stream.socket();
    let service = service_fn(move |mut request: Request<Incoming>| {
        if request.headers().contains_key(header::UPGRADE) {
            request.extensions_mut().insert(socket.clone());
        }
        let (socket, answer) = (socket.clone(), respond(router.clone(), met.clone(), request));
        async move { answer.await.inspect(|answer| note_upgrade(&socket, answer)) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_header_size(limits.header_bytes)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    tokio::select! {
        ended = &mut connection => return Ok(ended?),
        _ = closing.changed() => connection.as_mut().graceful_shutdown(),
    }
    Ok(connection.await?)
}

async fn serve_http2<S>(
    stream: WriteTimeoutStream<S>,
    met: Met,
    router: Router,
    limits: &HttpLimits,
    mut closing: watch::Receiver<()>,
) -> ConnectionResult
where
    S: AsyncRead + AsyncWrite + HasTcpStream + Unpin + Send + 'static,
{
    let pulse = Http2Activity::start();
    let watched = pulse.clone();
    let service = service_fn(move |request| {
        let (pending, answer) = (watched.on_request(), respond(router.clone(), met.clone(), request));
        async { Ok::<_, Infallible>(answer.await?.map(|body| pending.with_body(body))) }
    });
    let mut connection = pin!(http2_builder(limits).serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = &mut connection => return Ok(ended?),
        _ = closing.changed() => {}
        () = pulse.wait_until_idle(limits) => {}
    }
    connection.as_mut().graceful_shutdown();
    pulse.begin_shutdown();
    tokio::select! {
        ended = connection => Ok(ended?),
        () = pulse.wait_until_idle(limits) => Err("its peer neither asked, nor took an answer, nor left".into()),
    }
}

fn http2_builder(limits: &HttpLimits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(limits.http2.streams)
        .max_pending_accept_reset_streams(limits.http2.pending_resets)
        .max_local_error_reset_streams(limits.http2.faulty_streams)
        .max_send_buf_size(limits.http2.send_buffer_bytes)
        .keep_alive_interval(limits.http2.ping_interval)
        .keep_alive_timeout(limits.http2.ping_timeout);
    builder
}

/// From this response on the upgrade handler owns the connection.
fn note_upgrade(socket: &UpgradeSocket, answer: &Response) {
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        socket.mark_upgraded();
    }
}

async fn respond(router: Router, met: Met, mut request: Request<Incoming>) -> Result<Response, Infallible> {
    let _busy = met.seat.begin_request();
    request.extensions_mut().insert(met.reached);
    request.extensions_mut().insert(met.seat);
    router.oneshot(request.map(Body::new)).await
}
