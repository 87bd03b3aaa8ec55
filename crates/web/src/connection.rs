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
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::ServiceExt;

use crate::limits::Limits;
use crate::opening::{Version, learn_version, shake_hands};
use crate::patience::Impatient;
use crate::places::{GivenWay, Place, Seat};
use crate::pulse::Pulse;
use crate::socket::{OnSocket, Socket};
use crate::visitor::Reached;

type Ended = Result<(), Box<dyn Error + Send + Sync>>;

pub(crate) struct Connection {
    pub(crate) router: Router,
    pub(crate) limits: Arc<Limits>,
    /// Changes for the last time when the server stops.
    pub(crate) closing: watch::Receiver<()>,
    /// Its place among all connections.
    pub(crate) place: Place,
}

/// What each request of a connection carries.
#[derive(Clone)]
struct Met {
    reached: Reached,
    seat: Seat,
}

impl Connection {
    /// Until it ends, or has to give way to others.
    pub(crate) async fn serve(self, stream: TcpStream, tls: Option<Arc<ServerConfig>>, given_way: GivenWay) {
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
            () = given_way.given() => tracing::debug!("a connection gave way to another"),
        }
    }

    async fn serve_plain(mut self, mut stream: TcpStream) -> Ended {
        let reached = reached(&stream, false)?;
        let learnt = learn_version(&mut stream, self.limits.header_timeout);
        let Some(learnt) = unless_closing(&mut self.closing, learnt).await else { return Ok(()) };
        let (version, opening) = learnt?;
        self.serve_version(version, stream, opening, reached).await
    }

    async fn serve_secure(mut self, stream: TcpStream, tls: Arc<ServerConfig>) -> Ended {
        let reached = reached(&stream, true)?;
        let shaken = shake_hands(stream, tls, self.limits.handshake_timeout);
        let Some(shaken) = unless_closing(&mut self.closing, shaken).await else { return Ok(()) };
        let (version, stream) = shaken?;
        self.serve_version(version, stream, vec![], reached).await
    }

    async fn serve_version<S>(self, version: Version, stream: S, opening: Vec<u8>, reached: Reached) -> Ended
    where
        S: AsyncRead + AsyncWrite + OnSocket + Unpin + Send + 'static,
    {
        let Self { router, limits, closing, place } = self;
        let met = Met { reached, seat: place.seat() };
        let stream = Impatient::new(stream, opening, place, limits.write_timeout);
        match version {
            Version::Http1 => serve_http1(stream, met, router, &limits, closing).await,
            Version::Http2 => serve_http2(stream, met, router, &limits, closing).await,
        }
    }
}

fn reached(stream: &TcpStream, secure: bool) -> io::Result<Reached> {
    Ok(Reached { at: stream.local_addr()?, from: stream.peer_addr()?, secure })
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
    mut stream: Impatient<S>,
    met: Met,
    router: Router,
    limits: &Limits,
    mut closing: watch::Receiver<()>,
) -> Ended
where
    S: AsyncRead + AsyncWrite + OnSocket + Unpin + Send + 'static,
{
    let socket = stream.socket();
    let service = service_fn(move |mut request: Request<Incoming>| {
        if request.headers().contains_key(header::UPGRADE) {
            request.extensions_mut().insert(socket.clone());
        }
        let (socket, answer) = (socket.clone(), answer(router.clone(), met.clone(), request));
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
    stream: Impatient<S>,
    met: Met,
    router: Router,
    limits: &Limits,
    mut closing: watch::Receiver<()>,
) -> Ended
where
    S: AsyncRead + AsyncWrite + OnSocket + Unpin + Send + 'static,
{
    let pulse = Pulse::start();
    let watched = pulse.clone();
    let service = service_fn(move |request| {
        let (pending, answer) = (watched.request(), answer(router.clone(), met.clone(), request));
        async { Ok::<_, Infallible>(answer.await?.map(|body| pending.answered_by(body))) }
    });
    let mut connection = pin!(http2_builder(limits).serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = &mut connection => return Ok(ended?),
        _ = closing.changed() => {}
        () = pulse.stopped(limits) => {}
    }
    connection.as_mut().graceful_shutdown();
    pulse.begin_farewell();
    tokio::select! {
        ended = connection => Ok(ended?),
        () = pulse.stopped(limits) => Err("its peer neither asked, nor took an answer, nor left".into()),
    }
}

fn http2_builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
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
fn note_upgrade(socket: &Socket, answer: &Response) {
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        socket.upgrade();
    }
}

async fn answer(router: Router, met: Met, mut request: Request<Incoming>) -> Result<Response, Infallible> {
    let _busy = met.seat.begin();
    request.extensions_mut().insert(met.reached);
    request.extensions_mut().insert(met.seat);
    router.oneshot(request.map(Body::new)).await
}
