//! Listeners: accept, count and drain connections.

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use net::ConnectionLimiter;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::connection::HttpConnection;
use crate::limits::HttpLimits;
use crate::overload::OverloadResponder;

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
    if tokio::time::timeout(grace, all_end).await.is_err() {
        tracing::warn!("shutdown grace is over: open connections are closed");
        connections.shutdown().await;
    }
}
