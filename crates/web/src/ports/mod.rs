//! Listeners: accept, count and drain connections. Connections beyond the limit get 503 in plain HTTP and are closed.

pub(crate) mod connection;
pub(crate) mod protocol_detect;
pub(crate) mod write_timeout;
pub(crate) mod upgrade_socket;
pub(crate) mod http2_keepalive;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use net::ConnectionLimiter;
use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::ProblemVO;

use crate::codes;
use crate::settings::HttpLimits;
use connection::HttpConnection;

#[cfg(test)]
mod tests;

/// A port, with TLS or without.
pub(crate) struct HttpPort {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<Arc<ServerConfig>>,
}

/// Serves both ports until `shutdown` is ready, then completes requests in progress.
pub(crate) async fn serve(
    (http, https): (Option<HttpPort>, Option<HttpPort>),
    router: Router,
    limits: &HttpLimits,
    shutdown: impl Future<Output = ()>,
) {
    let (close, closing) = watch::channel(());
    let limiter = ConnectionLimiter::new(limits.connection_limits());
    let limits = Arc::new(limits.clone());
    let (mut connections, mut turned_away) = (JoinSet::new(), OverloadResponder::default());
    let mut shutdown = pin!(shutdown);
    loop {
        let (port, (stream, from)) = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(http.as_ref()) => accepted,
            accepted = accept(https.as_ref()) => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let Ok(permit) = limiter.acquire(Some(from.ip())) else {
            turned_away.reject(stream, port.tls.is_some());
            continue;
        };
        let (router, limits, closing) = (router.clone(), limits.clone(), closing.clone());
        connections.spawn(HttpConnection { router, limits, closing, permit }.serve(stream, port.tls.clone()));
    }
    drop((http, https, close));
    finish(connections, limits.shutdown_grace).await;
}

/// Waits for ever at a port that is not there.
async fn accept(port: Option<&HttpPort>) -> (&HttpPort, (TcpStream, SocketAddr)) {
    match port {
        Some(port) => (port, net::accept(&port.listener).await),
        None => std::future::pending().await,
    }
}

async fn finish(mut connections: JoinSet<()>, grace: Duration) {
    let all_end = async { while connections.join_next().await.is_some() {} };
    if timeout(grace, all_end).await.is_err() {
        tracing::warn!("shutdown grace is over: open connections are closed");
        connections.shutdown().await;
    }
}

/// Concurrent 503 responses; more connections are closed without an answer.
const RESPONSES_AT_A_TIME_MAX: usize = 64;
/// A peer that does not close by then is cut.
const CLOSE_WAIT: Duration = Duration::from_secs(1);
const TOO_MANY_CONNECTIONS: &str = "too-many-connections";

#[derive(Default)]
pub(crate) struct OverloadResponder {
    responding: JoinSet<()>,
}

impl OverloadResponder {
    pub(crate) fn reject(&mut self, stream: TcpStream, is_secure: bool) {
        tracing::debug!("connection limit reached: connection rejected");
        while self.responding.try_join_next().is_some() {}
        // A TLS handshake would cost too much.
        if !is_secure && self.responding.len() < RESPONSES_AT_A_TIME_MAX {
            self.responding.spawn(async { timeout(CLOSE_WAIT, send_503(stream)).await.unwrap_or(()) });
        }
    }
}

async fn send_503(mut stream: TcpStream) {
    if stream.write_all(response_text().as_bytes()).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    // A close while the peer still sends would reset the connection and could lose the response.
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await.is_ok_and(|length| length > 0) {}
}

fn response_text() -> String {
    let status = codes::status_of(TOO_MANY_CONNECTIONS);
    let title = status.canonical_reason().unwrap_or(StatusCode::SERVICE_UNAVAILABLE.as_str());
    let problem =
        ProblemVO::new(status.as_u16(), TOO_MANY_CONNECTIONS, title, "no more connections are served; try again");
    let body = String::from_utf8_lossy(&wire::json::encode(&problem)).into_owned();
    let (media_type, length) = (wire::problem::MEDIA_TYPE, body.len());
    format!(
        "HTTP/1.1 {} {title}\r\ncontent-type: {media_type}\r\nretry-after: 1\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}",
        status.as_u16()
    )
}
